-- What reports say besides formulas: code in other languages, places of crashes, versions, duplicates, tools.

alter table block add column written_in varchar;        -- smt-lib, sygus, yices, tptp, python, c++, ...; null: no code, or unknown

alter table issue add column affected_commit varchar;   -- commit that has the bug
alter table issue add column affected_commit_reason varchar;
alter table issue add column last_good varchar;         -- version or commit without the bug, before it
alter table issue add column last_good_reason varchar;
alter table issue add column fixed_in varchar;          -- version without the bug, after it
alter table issue add column fixed_in_reason varchar;
alter table issue add column introduced_by varchar;     -- commit that caused the bug
alter table issue add column introduced_by_reason varchar;
alter table issue add column duplicate_of varchar;      -- issue that is said to be the same: Z3Prover/z3#12
alter table issue add column duplicate_of_reason varchar;
alter table issue add column tools varchar[];           -- fuzzers, verifiers, ... that the reporter names
alter table issue add column crash_file varchar;        -- where the solver crashed: file without folders
alter table issue add column crash_line integer;
alter table issue add column crash_function varchar;    -- without parameters
alter table issue add column crash_message varchar;     -- failed assertion, or what the sanitizer said

alter table issue_link add column duplicate boolean;    -- said to be the same issue

alter table formula_run add column crash_file varchar;  -- as in the table issue
alter table formula_run add column crash_line integer;
alter table formula_run add column crash_function varchar;
alter table formula_run add column crash_message varchar;

-- Formulas that count. What is missing in them or was added to them is a column each.
create or replace view current_formula as
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
