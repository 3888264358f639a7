-- Which files the commits and pull requests changed that fix issues.

create table fix_file (
    target varchar not null,            -- as in the table issue_link
    file varchar not null               -- path in the repository
);
