-- What triggered a bug: the script as it was run, and every run that is shown with it.

alter table formula add column script_text_id integer; -- the whole script: text_id has what learning uses
alter table formula add column actual varchar;         -- answers of the failing run: unsat, or sat unsat
alter table formula add column flags varchar[];        -- incomplete, unbalanced, joined, check-sat-added, ...

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
    primary key (formula_id, position)
);

-- Views keep the columns of their tables: made again for the new ones.
create or replace view current_formula as
select * from formula where superseded_by is null;
