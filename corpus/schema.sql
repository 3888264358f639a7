-- The corpus. Ids are small integers, given in the order of storing, so that the
-- same import gives the same ids. What one table says of another's row is named <table>_id; such
-- references are checked by Corpus.verify, not by DuckDB (whose foreign keys forbid harmless
-- updates of the rows they point to). Times are UTC.

-- Which migrations made this file. Its highest number is the schema's version.
create table migration (
    number integer primary key,         -- 1, 2, 3, ...
    name varchar not null,              -- the file it came from, without its ending
    applied_at timestamp not null
);

-- Every longer text, once. Other tables name it by id.
create table text (
    id integer primary key,
    sha256 varchar not null unique,     -- of the UTF-8 bytes, in hexadecimal
    bytes integer not null,
    body varchar not null
);

-- Where issues come from: a repository's issue tracker, or a folder of files.
create table tracker (
    id integer primary key,
    name varchar not null unique,       -- z3, cvc5, Z3Prover/z3, ...
    kind varchar not null,              -- folder, starter, or the host: github, gitlab
    url varchar,
    solver varchar                      -- whose bugs it holds, where that is known
);

-- What a tracker sent, as it came, before anything was read from it.
create table raw_record (
    id integer primary key,
    tracker_id integer not null,
    request varchar not null,           -- the request without host and token, or dump:issues/12
    status integer,                     -- HTTP status
    etag varchar,
    last_modified varchar,
    fetched_at timestamp,
    text_id integer,                    -- the body
    next varchar,                       -- the request for the page after it, where there is one
    unique (tracker_id, request)
);

-- A bug report.
create table issue (
    id integer primary key,
    tracker_id integer not null,
    number integer not null,            -- as the tracker counts them
    url varchar,
    title varchar,
    text_id integer,                    -- the first post
    author_association varchar,         -- MEMBER, CONTRIBUTOR, NONE, ...
    labels varchar[],
    state varchar,                      -- open, closed
    state_reason varchar,               -- completed, not_planned, duplicate, ...
    created_at timestamp,
    updated_at timestamp,
    closed_at timestamp,
    bug_class varchar,                  -- soundness, invalid-model, crash, leak, incompleteness, performance, regression, ...
    bug_class_reason varchar,           -- the words that gave it; the same for each *_reason
    severity varchar,
    severity_reason varchar,
    area varchar,                       -- theory or part of the solver
    area_reason varchar,
    fixed_by varchar,                   -- commit or pull request
    fixed_by_reason varchar,
    affected varchar,                   -- version or commit that has the bug
    affected_reason varchar,
    raw_record_id integer,
    affected_commit varchar,            -- commit that has the bug
    affected_commit_reason varchar,
    last_good varchar,                  -- version or commit without the bug, before it
    last_good_reason varchar,
    fixed_in varchar,                   -- version without the bug, after it
    fixed_in_reason varchar,
    introduced_by varchar,              -- commit that caused the bug
    introduced_by_reason varchar,
    duplicate_of varchar,               -- issue that is said to be the same: Z3Prover/z3#12
    duplicate_of_reason varchar,
    tools varchar[],                    -- fuzzers, verifiers, ... that the reporter names
    crash_file varchar,                 -- where the solver crashed: file without folders
    crash_line integer,
    crash_function varchar,             -- without parameters
    crash_message varchar,              -- failed assertion, or what the sanitizer said
    unique (tracker_id, number)
);

-- An answer to an issue.
create table comment (
    id integer primary key,
    issue_id integer not null,
    position integer not null,          -- 1 is the first answer; the issue's own text would be 0
    remote_id bigint,                   -- the tracker's own id
    author_association varchar,
    created_at timestamp,
    updated_at timestamp,
    text_id integer,
    raw_record_id integer,
    unique (issue_id, position)
);

-- Each issue that was read from raw records, with what it was read from. Pull requests have no row.
create table mined_issue (
    tracker_id integer not null,
    number integer not null,
    digest varchar not null,            -- of the raw issue, its comments and its attachments
    stored boolean not null,            -- in the table issue; false: not of the requested kind
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
    text varchar not null,              -- the words that gave it
    duplicate boolean                   -- said to be the same issue
);

-- A file that a fix changed, for fixes in the tracker's own repository.
create table fix_file (
    target varchar not null,            -- as in the table issue_link
    file varchar not null               -- path in the repository
);

-- A piece of code in an issue or a comment, or an attached file.
create table block (
    id integer primary key,
    issue_id integer not null,
    comment_id integer,                 -- null: in the issue's own text
    position integer not null,          -- counted over the whole issue, from 0
    kind varchar not null,              -- fenced, indented, pre, quote, attachment, ...
    language varchar,                   -- the fence's tag
    first_line integer,                 -- in the text it stands in, from 1
    last_line integer,
    text_id integer not null,
    command_line varchar,               -- what the author typed
    output_text_id integer,             -- what the solver printed
    expected varchar,                   -- what it should have said: sat, unsat, ...
    written_in varchar,                 -- smt-lib, sygus, yices, tptp, python, c++, ...; null: no code, or unknown
    unique (issue_id, position)
);

-- One SMT-LIB script, good or not.
create table formula (
    id integer primary key,
    tracker_id integer not null,
    issue_id integer,                   -- null: the file names none
    comment_id integer,                 -- null: the issue's own text, or a file
    block_id integer,
    position integer not null,          -- among the formulas of its issue, from 0
    source varchar not null,            -- where it stands: z3#1014/z3_1014_0.smt2, z3#1014/body/0, folder:sub/name.smt2
    path varchar,                       -- of the file, below the folder that was imported
    sha256 varchar not null,            -- of the bytes as they came; size:N where they were not read
    bytes bigint not null,
    text_id integer,                    -- null: could not be stored as text
    status varchar not null,            -- well-sorted; read: an s-expression script with an error in it; error: not even that
    error varchar,                      -- what is wrong, null when well-sorted
    error_line integer,                 -- from 1, null if not known
    error_column integer,
    logic varchar,                      -- of set-logic, null without one
    commands integer,                   -- 0: an empty script; null when not read, as the counts below
    assertions integer,
    check_sats integer,                 -- of every kind
    pushes integer,                     -- push and pop commands
    quantifiers integer,                -- binders among its terms
    terms integer,                      -- distinct terms below its assertions
    theories varchar[],                 -- Ints, FixedSizeBitVectors, ... of its operators, sorted
    operators varchar[],                -- its theory operators and connectives, sorted
    command_line varchar,               -- of the failing run, else of the first
    solver varchar,                     -- of this run
    solver_version varchar,             -- version or commit
    expected varchar,                   -- correct answers according to the issue: sat, or unsat sat
    bug_class varchar,                  -- of its issue
    near_duplicate_of integer,          -- another formula of the same issue that this one is a form of
    superseded_by integer,              -- the formula that took its place; such rows no longer count
    decomposed boolean not null,        -- its assertions are in the table assertion
    script_text_id integer,             -- the whole script: text_id has what learning uses
    actual varchar,                     -- answers of the failing run: unsat, or sat unsat
    flags varchar[],                    -- incomplete, unbalanced, joined, check-sat-added, ...
    unique (source, sha256)
);

-- A run of a solver on a formula, as its issue shows it.
create table formula_run (
    formula_id integer not null,
    position integer not null,          -- in the order of the issue, from 0
    command_line varchar,               -- null: only the output is shown
    solver varchar,
    solver_version varchar,
    options varchar[],
    answers varchar[],                  -- sat, unsat, unknown, ... in the order of printing
    symptom varchar,                    -- wrong-answer, invalid-model, crash, leak, error, timeout, unknown
    failing boolean not null,           -- shows the bug
    output_text_id integer,
    crash_file varchar,                 -- as in the table issue
    crash_line integer,
    crash_function varchar,
    crash_message varchar,
    primary key (formula_id, position)
);

-- A solver in one version.
create table solver (
    id integer primary key,
    spec varchar not null,              -- z3, cvc5, z3==4.8.5, name=command line
    version varchar not null,
    unique (spec, version)
);

-- Whether a solver accepts a formula (sort check only, nothing solved).
create table acceptance (
    formula_id integer not null,
    solver_id integer not null,
    form varchar not null,              -- written: as it came; printed: as exhume prints it
    accepted boolean not null,
    outcome varchar not null,           -- accepted, refused, crash, timeout
    message varchar,                    -- what the solver said
    cause varchar,                      -- its shape, without names and numbers: refusals are grouped by it
    primary key (formula_id, solver_id, form)
);

-- A solver's answer to a text, found within a fixed amount of the solver's own resources.
create table answer (
    sha256 varchar not null,            -- of the text, as in the table text
    solver_id integer not null,
    outcome varchar not null,           -- sat, unsat, unknown, refused, crash, timeout
    primary key (sha256, solver_id)
);

-- An assertion's connectives and quantifiers, everything else a hole.
create table skeleton (
    id integer primary key,
    sha256 varchar not null unique,
    text varchar not null,              -- canonical: (forall 2 (or (hole 0) (not (hole 1))))
    holes integer not null,
    binders integer not null,           -- bound variables
    quantified boolean not null,
    assertions integer not null,        -- how many assertions have it, superseded formulas apart
    formulas integer not null           -- in how many formulas
);

-- What stands for an atom in rules: its operator and the kind and sort of each operand.
create table signature (
    id integer primary key,
    coarse boolean not null,            -- without widths and formats
    text varchar not null,              -- (> const_Real var_Real)
    operator varchar not null,          -- its head; empty for a single symbol
    coarse_id integer,                  -- of a full one: its coarse form
    atoms integer not null,             -- distinct atoms that have it
    formulas integer not null,          -- formulas (transactions) that it occurs in
    unique (coarse, text)
);

-- The content of a hole. Its text is segments joined by the symbols that fill its slots.
create table atom (
    id integer primary key,
    sha256 varchar not null unique,
    text varchar not null,              -- canonical, its slots as parameters: (lambda ((x0 Int)) (> x0 1))
    segments json not null,             -- the text between the slots
    occurrences json not null,          -- which slot stands after each segment but the last
    slots json not null,                -- per slot what may fill it: [[parameter sorts], sort, was a bound variable]
    prelude json not null,              -- commands that must come first: sorts, datatypes, definitions
    theories varchar[] not null,        -- sorted
    size integer not null,              -- number of terms
    signature_id integer not null,
    coarse_signature_id integer not null,
    uses integer not null,              -- holes that it fills, superseded formulas apart
    formulas integer not null           -- in how many formulas
);

-- One well-sorted assertion, even if the rest of its formula is not well sorted.
create table assertion (
    id integer primary key,
    formula_id integer not null,
    position integer not null,          -- from 0
    skeleton_id integer,                -- null: skipped
    skipped varchar,                    -- why it, or some of its atoms, were skipped
    unique (formula_id, position)
);

-- Which atom fills which hole of an assertion's skeleton; holes whose atom was skipped have no row.
create table assertion_atom (
    assertion_id integer not null,
    hole integer not null,              -- from 0
    atom_id integer not null
);

-- One learning: association rules between signatures. The newest of each kind is the one in use.
create table rule_set (
    id integer primary key,
    coarse boolean not null,            -- over coarse signatures
    min_support integer not null,       -- formulas
    min_confidence double not null,
    transactions integer not null,      -- formulas that were mined
    itemsets integer not null,          -- frequent ones
    max_length integer not null,        -- size of the largest itemsets that were looked for
    complete boolean not null,          -- false: larger frequent itemsets may have been left out for their number
    rules integer not null,
    fingerprint varchar not null,       -- of transactions, parameters and rules: the same is not stored twice in a row
    version varchar not null,           -- of exhume
    created_at timestamp not null
);

-- Formulas with all of the antecedent tend to have the consequent too.
create table rule (
    id integer primary key,
    rule_set_id integer not null,
    antecedent integer[] not null,      -- signature ids
    consequent integer[] not null,
    support integer not null,           -- formulas that hold both
    confidence double not null,
    lift double not null,
    conviction double                   -- null: infinite
);

-- One generation of tests.
create table batch (
    id integer primary key,
    strategy varchar not null,
    seed bigint not null,
    version varchar not null,           -- of exhume
    corpus_fingerprint varchar not null,
    options json,
    solvers varchar[],                  -- solvers whose acceptance was required
    created_at timestamp not null
);

-- A generated test.
create table test (
    id integer primary key,
    batch_id integer not null,
    index integer not null,             -- in its batch
    text_id integer,                    -- kept for tests that a finding names; others can be made again
    sha256 varchar,
    skeletons integer[],
    atoms integer[],
    rules integer[],
    known varchar[],                    -- unused
    unique (batch_id, index)
);

-- One solver on one test or formula. Unused: nothing writes it.
create table run (
    id integer primary key,
    test_id integer,
    formula_id integer,
    solver_id integer not null,
    command_line varchar,
    options varchar[],
    outcome varchar not null,           -- ok, timeout, memout, unknown, refused, crash, invalid-model
    answers varchar[],                  -- per check-sat
    seconds double,
    output_text_id integer,
    started_at timestamp
);

-- A confirmed disagreement, crash, invalid model, ...
create table finding (
    id integer primary key,
    class varchar not null,             -- soundness, crash, invalid-model, incompleteness, slowdown, contradiction, proof
    solver_id integer not null,
    key varchar not null,               -- its cause: one finding per key
    test_id integer,
    formula_id integer,                 -- unused
    run_id integer,                     -- unused
    known varchar,                      -- unused
    location varchar,                   -- unused
    original_text_id integer,
    reduced_text_id integer,            -- unused
    command_line varchar,
    path varchar,                       -- folder of the finding
    seed bigint,
    found_at timestamp,
    unique (class, solver_id, key)
);

-- Formulas that count. What is missing in them or was added to them is a column each.
create view current_formula as
select
    *,
    coalesce(list_contains(flags, 'incomplete'), false) as incomplete,
    coalesce(list_contains(flags, 'elided'), false) as elided,
    coalesce(list_contains(flags, 'unbalanced'), false) as unbalanced,
    coalesce(list_contains(flags, 'joined'), false) as joined,
    coalesce(list_contains(flags, 'continued'), false) as continued,
    coalesce(list_contains(flags, 'check-sat-added'), false) as check_sat_added,
    coalesce(list_contains(flags, 'undeclared'), false) as undeclared,
    coalesce(list_contains(flags, 'foreign'), false) as outside_core,
    coalesce(list_contains(flags, 'loose'), false) as loose
from formula where superseded_by is null;

-- How often each atom stands in each formula.
create view atom_formula as
select assertion_atom.atom_id, assertion.formula_id, count(*) as uses
from assertion_atom join assertion on assertion.id = assertion_atom.assertion_id
group by all;

-- An atom is accepted by a solver when at least one formula holding it is.
create view atom_acceptance as
select atom_formula.atom_id, acceptance.solver_id, bool_or(acceptance.accepted) as accepted
from atom_formula join acceptance on acceptance.formula_id = atom_formula.formula_id
group by all;

-- Each formula with its tracker, issue and bug class, for people.
create view formula_provenance as
select
    formula.id as formula_id, tracker.name as tracker, issue.number as issue, issue.title, formula.source,
    coalesce(formula.bug_class, issue.bug_class) as bug_class, formula.solver, formula.solver_version,
    formula.command_line, issue.created_at, issue.closed_at, issue.url
from formula
join tracker on tracker.id = formula.tracker_id
left join issue on issue.id = formula.issue_id;

-- Code of any known language in issues, with the class of the bug.
create view code as
select
    block.id as block_id, tracker.name as tracker, issue.number as issue, issue.title, issue.bug_class,
    block.written_in as language, block.kind, block.command_line, block.expected, text.body as text
from block
join issue on issue.id = block.issue_id
join tracker on tracker.id = issue.tracker_id
join text on text.id = block.text_id
where block.written_in is not null;

-- The newest rule set of each kind, its rules spelt out.
create view current_rule as
select
    rule.id as rule_id, rule.rule_set_id, rule_set.coarse,
    list_transform(rule.antecedent, lambda s: names.text[s]) as antecedent,
    list_transform(rule.consequent, lambda s: names.text[s]) as consequent,
    rule.support, rule.confidence, rule.lift, rule.conviction
from rule
join rule_set on rule_set.id = rule.rule_set_id
cross join (select map(list(id), list(text)) as text from signature) as names
where rule_set.id in (select max(id) from rule_set group by coarse);
