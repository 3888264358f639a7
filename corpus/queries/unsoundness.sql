-- about: Wrong answers by theory and direction: unsat for satisfiable formulas (refutation), or sat (solution).
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- needs: formula.actual  exhume mine --replay
-- example: exhume query unsoundness
-- Answers are compared check-sat by check-sat; a formula of several theories counts for each of them.
with wrong as (
    select
        formula.id, formula.issue_id, formula.tracker_id,
        unnest(list_zip(string_split(actual, ' '), string_split(expected, ' '))) as pair,
        if(len(theories) > 1, list_filter(theories, lambda theory: theory <> 'Core'), theories) as theories
    from current_formula as formula
    where actual is not null and expected is not null
),
direction as (
    select distinct
        id, issue_id, tracker_id, theories,
        case
            when pair[1] = 'unsat' and pair[2] = 'sat' then 'refutation'
            when pair[1] = 'sat' and pair[2] = 'unsat' then 'solution'
        end as direction
    from wrong
),
by_theory as (
    select id, issue_id, tracker_id, unnest(theories) as theory, direction
    from direction where direction is not null
)
select
    theory,
    count(distinct by_theory.issue_id) as issues,
    count(distinct by_theory.id) as formulas,
    count(distinct by_theory.id) filter (where direction = 'refutation') as refutation,
    count(distinct by_theory.id) filter (where direction = 'solution') as solution,
    min_by(tracker.name || '#' || issue.number, issue.id) as an_issue
from by_theory
join tracker on tracker.id = by_theory.tracker_id
left join issue on issue.id = by_theory.issue_id
where $tracker::varchar is null or tracker.name = $tracker
group by theory
order by formulas desc, theory;
