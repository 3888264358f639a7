-- about: Skeletons that formulas of two trackers share, the most used first.
-- parameter: first tracker  A tracker.
-- parameter: second tracker  Another tracker.
-- needs: assertion.id  exhume learn
-- example: exhume query skeletons-in-both first=z3 second=cvc5
with use as (
    select assertion.skeleton_id, tracker.name as tracker, count(distinct formula.id) as formulas
    from assertion
    join current_formula as formula on formula.id = assertion.formula_id
    join tracker on tracker.id = formula.tracker_id
    where tracker.name in ($first, $second)
    group by all
)
select
    skeleton.id as skeleton,
    first_use.formulas as in_first,
    second_use.formulas as in_second,
    skeleton.holes,
    skeleton.text
from skeleton
join use as first_use on first_use.skeleton_id = skeleton.id and first_use.tracker = $first
join use as second_use on second_use.skeleton_id = skeleton.id and second_use.tracker = $second
order by least(in_first, in_second) desc, skeleton.id;
