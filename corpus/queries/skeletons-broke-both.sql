-- about: Skeletons of formulas that triggered bugs in two solvers, per issue.
-- parameter: first solver = 'z3'  A solver.
-- parameter: second solver = 'cvc5'  Another solver.
-- parameter: holes integer = 2  Only skeletons with at least this many holes; nearly all formulas have the one with a single hole.
-- needs: assertion.id  exhume learn
-- example: exhume query skeletons-broke-both first=z3 second=cvc5 holes=1
-- The solver is the one that the formula's command line ran; else the one whose tracker it is.
with broke as (
    select distinct
        assertion.skeleton_id,
        coalesce(formula.solver, tracker.solver) as solver,
        formula.issue_id
    from assertion
    join current_formula as formula on formula.id = assertion.formula_id
    join tracker on tracker.id = formula.tracker_id
    where formula.issue_id is not null and coalesce(formula.solver, tracker.solver) in ($first, $second)
)
select
    skeleton.id as skeleton,
    count(distinct broke.issue_id) filter (where broke.solver = $first) as issues_of_first,
    count(distinct broke.issue_id) filter (where broke.solver = $second) as issues_of_second,
    skeleton.holes,
    skeleton.text
from broke
join skeleton on skeleton.id = broke.skeleton_id
where skeleton.holes >= $holes
group by all
having issues_of_first > 0 and issues_of_second > 0
order by least(issues_of_first, issues_of_second) desc, greatest(issues_of_first, issues_of_second) desc, skeleton.id;
