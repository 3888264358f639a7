-- What the live miner keeps besides: which issues it has read, and what they refer to.

-- Each issue that was read from raw records, with what it was read from. Pull requests have no row.
create table mined_issue (
    tracker_id integer not null,
    number integer not null,
    digest varchar not null,            -- of the raw issue, its comments and its attachments
    stored boolean not null,            -- in the table issue; false: not of the kind that was asked for
    attachments varchar not null,       -- addresses of attached files that may be fetched, one a line
    primary key (tracker_id, number)
);

-- A commit, issue or pull request that an issue's text names.
create table issue_link (
    issue_id integer not null,
    comment_id integer,                 -- null: in the issue's own text
    kind varchar not null,              -- commit, issue, pull-request, or number where #12 may be either
    target varchar not null,            -- Z3Prover/z3#12, Z3Prover/z3@0a1b2c3
    fixes boolean not null,             -- said to fix the issue
    text varchar not null               -- the words that gave it
);

-- A list's pages tell which follows in a header: kept, so that a mining that was cut off can go on.
alter table raw_record add column next varchar; -- the request for the page after it, where there is one
