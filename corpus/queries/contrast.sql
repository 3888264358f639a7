-- about: What two trackers (or solvers, or periods) have more or less of: odds ratios with their significance.
-- parameter: first side  A tracker, a solver, or a period of years such as 2019-2020.
-- parameter: second side  Another one of the same kind.
-- parameter: of text = 'tracker'  What the two are: tracker, solver or period.
-- parameter: by text = 'theory'  What is compared: theory, operator, signature or coarse (a coarse signature).
-- parameter: class class = null  Only formulas of this bug class: soundness, invalid-model, crash.
-- parameter: p number = 1  Only rows with a p-value of at most this.
-- needs: formula.id  exhume mine
-- example: exhume query contrast first=z3 second=cvc5 of=solver by=theory
-- Counts are formulas. odds_ratio is that of the first to the second, with half a formula added to each cell
-- (Haldane), so that it is never infinite. p is that of Fisher's exact test, two-sided; q is p
-- corrected for the number of rows compared (Benjamini and Hochberg). Near duplicates within an issue are left out.
with side as (
    select
        formula.id,
        formula.theories,
        formula.operators,
        case $of
            when 'tracker' then tracker.name
            when 'solver' then coalesce(formula.solver, tracker.solver)
            when 'period' then case
                when year(issue.created_at) between try_cast(string_split($first, '-')[1] as integer)
                    and try_cast(string_split($first, '-')[-1] as integer) then $first
                when year(issue.created_at) between try_cast(string_split($second, '-')[1] as integer)
                    and try_cast(string_split($second, '-')[-1] as integer) then $second
            end
            else error('of is tracker, solver or period')
        end as side
    from current_formula as formula
    join tracker on tracker.id = formula.tracker_id
    left join issue on issue.id = formula.issue_id
    where formula.near_duplicate_of is null and formula.commands is not null
        and ($class::varchar is null or coalesce(formula.bug_class, issue.bug_class) = $class)
        and ($by in ('theory', 'operator', 'signature', 'coarse')
            or error('by is theory, operator, signature or coarse')::boolean)
),
chosen as (
    select id, side = $first as is_first, theories, operators from side where side in ($first, $second)
),
had as (
    select id, is_first, unnest(if($by = 'theory', theories, operators)) as item
    from chosen
    where $by in ('theory', 'operator')
    union
    select chosen.id, is_first, signature.text
    from chosen
    join atom_formula on atom_formula.formula_id = chosen.id
    join atom on atom.id = atom_formula.atom_id
    join signature
        on signature.id = if($by = 'coarse', atom.coarse_signature_id, atom.signature_id)
    where $by in ('signature', 'coarse')
),
size as (
    select
        count(*) filter (where is_first) as firsts,
        count(*) filter (where not is_first) as seconds
    from chosen
),
found as (
    select
        item,
        count(*) filter (where is_first) as in_first,
        count(*) filter (where not is_first) as in_second
    from had
    group by item
),
-- Every table with the same margins: x of the formulas with the item are the first's.
tables as (
    select
        item, in_first, firsts, seconds, in_first + in_second as total,
        unnest(range(greatest(0, in_first + in_second - seconds), least(in_first + in_second, firsts) + 1)) as x
    from found, size
),
weighed as (
    select
        item, in_first, x,
        exp(
            lgamma(total + 1) - lgamma(x + 1) - lgamma(total - x + 1)
            + lgamma(firsts + seconds - total + 1) - lgamma(firsts - x + 1)
            - lgamma(seconds - total + x + 1)
            - lgamma(firsts + seconds + 1) + lgamma(firsts + 1) + lgamma(seconds + 1)
        ) as chance
    from tables
),
tested as (
    select
        item,
        least(1, list_sum(list(chance order by x) filter (where chance <= seen * (1 + 1e-7)))) as p
    from (select *, max(chance) filter (where x = in_first) over (partition by item) as seen from weighed)
    group by item
),
ranked as (
    select *, row_number() over (order by p, item) as rank, count(*) over () as rows from tested
),
corrected as (
    select item, p, min(p * rows / rank) over (order by rank desc) as q from ranked
)
select
    item,
    in_first,
    firsts,
    in_second,
    seconds,
    round(
        (in_first + 0.5) * (seconds - in_second + 0.5) / ((firsts - in_first + 0.5) * (in_second + 0.5)), 3
    ) as odds_ratio,
    p,
    q
from corrected
join found using (item)
cross join size
where p <= $p and firsts > 0 and seconds > 0
order by p, in_first + in_second desc, item;
