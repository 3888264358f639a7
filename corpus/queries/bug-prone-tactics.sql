-- about: The tactics that most bug reports were made with, from check-sat-using and command lines.
-- parameter: class class = null  Only issues of this bug class: soundness, invalid-model, crash.
-- needs: issue.id  exhume mine
-- example: exhume query bug-prone-tactics class=invalid-model
with said as (
    select issue_id, text_id from block
    union
    select issue_id, text_id from current_formula where issue_id is not null
),
-- The line of each check-sat-using and the indented lines below it.
used as (
    select
        issue_id,
        unnest(regexp_extract_all(body, '\(check-sat-using\s+([^\n]*(?:\n[ \t]+[^\n]*)*)', 1)) as tail
    from said
    join text on text.id = said.text_id
),
-- Without comments, commands that follow, and the parameters of using-params.
tactic_term as (
    select
        issue_id,
        tail
            .regexp_replace(';[^\n]*', '', 'g')
            .regexp_replace('(?s)\)\s*\((assert|apply|check-|declare-|define-|echo|eval|exit|get-|pop|push|reset|set-).*', '')
            .regexp_replace(':[^\s()]+\s+[^\s()]+', '', 'g') as term
    from used
),
tactic as (
    select issue_id, unnest(regexp_extract_all(term, '[^\s()]+')) as tactic from tactic_term
    union all
    select issue_id, unnest(regexp_extract_all(command_line, 'default_tactic=([\w-]+)', 1)) from block
)
select
    tactic,
    count(distinct issue_id) as issues,
    count(distinct issue_id) filter (where bug_class = 'soundness') as soundness,
    count(distinct issue_id) filter (where bug_class = 'invalid-model') as invalid_model,
    count(distinct issue_id) filter (where bug_class = 'crash') as crash,
    min_by(tracker.name || '#' || issue.number, issue.id) as an_issue
from tactic
join issue on issue.id = issue_id
join tracker on tracker.id = issue.tracker_id
where ($class::varchar is null or bug_class = $class)
    and regexp_full_match(tactic, '[a-z][a-z0-9_-]*')
    and tactic not in (
        'then', 'and-then', 'par-then', 'or-else', 'par-or', 'repeat', 'try-for', 'using-params', 'with',
        'if', 'cond', 'when', 'fail-if', 'not', 'and', 'or'
    )
group by tactic
order by issues desc, tactic;
