-- about: Skeletons that triggered a bug again after an issue with them had been fixed.
-- parameter: holes integer = 2  Only skeletons with at least this many holes; nearly all formulas have the one with a single hole.
-- parameter: trivial integer = 0  1 also lists trivial skeletons: those with at most one connective or quantifier.
-- parameter: class class = null  Only issues of this bug class: soundness, invalid-model, crash.
-- needs: assertion.id  exhume learn
-- example: exhume query skeletons-came-back holes=2
-- Fixed is an issue that was closed, but not as a duplicate or as one that will not be fixed.
with broke as (
    select distinct
        assertion.skeleton_id,
        coalesce(formula.solver, tracker.solver, tracker.name) as solver,
        tracker.name || '#' || issue.number as issue,
        issue.created_at,
        issue.closed_at,
        issue.state = 'closed' and coalesce(issue.state_reason, '') not in ('not_planned', 'duplicate') as fixed
    from assertion
    join current_formula as formula on formula.id = assertion.formula_id
    join tracker on tracker.id = formula.tracker_id
    join issue on issue.id = formula.issue_id
    where $class::varchar is null or coalesce(formula.bug_class, issue.bug_class) = $class
),
first_fix as (
    select skeleton_id, solver, min(closed_at) as fixed_at, min_by(issue, (closed_at, issue)) as issue
    from broke
    where fixed and closed_at is not null
    group by all
)
select
    skeleton.id as skeleton,
    first_fix.solver,
    count(distinct later.issue) as came_back,
    first_fix.issue as fixed_issue,
    first_fix.fixed_at,
    min_by(later.issue, (later.created_at, later.issue)) as next_issue,
    date_diff('day', first_fix.fixed_at, min(later.created_at)) as days_after,
    skeleton.holes,
    skeleton.text
from first_fix
join broke as later
    on later.skeleton_id = first_fix.skeleton_id
    and later.solver = first_fix.solver
    and later.created_at > first_fix.fixed_at
join skeleton on skeleton.id = first_fix.skeleton_id
where skeleton.holes >= $holes
    -- Parentheses that open neither a hole nor a negation open a connective or a quantifier.
    and (
        $trivial <> 0
        or len(regexp_extract_all(skeleton.text, '\((and|or|xor|=>|=|distinct|ite|forall|exists|let)')) > 1
    )
group by skeleton.id, skeleton.holes, skeleton.text, first_fix.solver, first_fix.issue, first_fix.fixed_at
order by came_back desc, skeleton.holes desc, skeleton.id, first_fix.solver;
