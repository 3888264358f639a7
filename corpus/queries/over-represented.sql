-- about: Signatures that are more frequent in formulas of bugs than in normal formulas, with a p-value.
-- parameter: class class = 'soundness'  Bug classes, separated by commas.
-- parameter: normal tracker = null  A tracker of normal formulas (benchmarks); without one, all other formulas.
-- parameter: coarse integer = 0  1 for coarse signatures, without widths and formats.
-- parameter: support integer = 2  Only signatures that occur in at least this many formulas.
-- parameter: p number = 0.05  Only signatures with a p-value of at most this.
-- needs: assertion_atom.atom_id  exhume learn
-- example: exhume query over-represented class=soundness coarse=1 p=0.01
-- p is that of Fisher's exact test, one-sided: the probability that this many formulas of bugs have
-- the signature by chance. q is p corrected for the number of signatures
-- tested (Benjamini and Hochberg). Near duplicates within an issue are left out.
-- For a normal corpus in a file of its own see exhume compare.
with held as (
    select distinct
        formula.id as formula_id,
        if($coarse <> 0, atom.coarse_signature_id, atom.signature_id) as signature_id,
        coalesce(formula.bug_class, issue.bug_class, '') in (
            select trim(unnest(string_split($class, ',')))
        ) as bug,
        tracker.name as tracker
    from atom_formula
    join atom on atom.id = atom_formula.atom_id
    join current_formula as formula on formula.id = atom_formula.formula_id
    join tracker on tracker.id = formula.tracker_id
    left join issue on issue.id = formula.issue_id
    where formula.near_duplicate_of is null
),
sided as (
    select formula_id, signature_id, bug and tracker is distinct from $normal::varchar as bug
    from held
    where tracker = $normal::varchar or bug or $normal::varchar is null
),
side as (
    select
        count(distinct formula_id) filter (where bug) as bugs,
        count(distinct formula_id) filter (where not bug) as normals
    from sided
),
found as (
    select
        signature_id,
        count(*) filter (where bug) as in_bugs,
        count(*) filter (where not bug) as in_normals,
        count(*) as total
    from sided
    group by signature_id
    having total >= $support
),
-- Of bugs + normals formulas, total have the signature: the chance that x of the bugs' are among them.
tail as (
    select
        signature_id, total, bugs, normals,
        unnest(range(in_bugs, least(total, bugs) + 1)) as x
    from found, side
),
tested as (
    select
        signature_id,
        -- Summed in this order, so that the last digits do not depend on how threads shared the work.
        least(1, list_sum(list(exp(
            lgamma(total + 1) - lgamma(x + 1) - lgamma(total - x + 1)
            + lgamma(bugs + normals - total + 1) - lgamma(bugs - x + 1) - lgamma(normals - total + x + 1)
            - lgamma(bugs + normals + 1) + lgamma(bugs + 1) + lgamma(normals + 1)
        ) order by x))) as p
    from tail
    group by signature_id
),
ranked as (
    select *, row_number() over (order by p, signature_id) as rank, count(*) over () as tests from tested
),
corrected as (
    select signature_id, p, min(p * tests / rank) over (order by rank desc) as q from ranked
)
select
    signature.id as signature,
    signature.text,
    in_bugs,
    bugs,
    in_normals,
    normals,
    round(if(in_normals = 0, null, (in_bugs / bugs) / (in_normals / normals)), 2) as times_as_often,
    p,
    q
from corrected
join found on found.signature_id = corrected.signature_id
join signature on signature.id = corrected.signature_id
cross join side
where p <= $p
order by p, in_bugs desc, signature.id;
