-- What solvers answered to formulas that tests are made from.

-- A solver's answer to a text, found within a fixed amount of the solver's own resources.
create table answer (
    sha256 varchar not null,            -- of the text, as in the table text
    solver_id integer not null,
    outcome varchar not null,           -- sat, unsat, unknown, refused, crash, timeout
    primary key (sha256, solver_id)
);
