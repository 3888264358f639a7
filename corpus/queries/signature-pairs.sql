-- about: Pairs of signatures that occur in the same formulas more often than by chance, each pair once, by lift.
-- parameter: coarse integer = 0  1 for coarse signatures, without widths and formats.
-- parameter: support integer = 3  Only pairs that occur in at least this many formulas.
-- parameter: class class = null  Only formulas of this bug class: soundness, invalid-model, crash.
-- needs: assertion_atom.atom_id  exhume learn
-- example: exhume query signature-pairs coarse=1 support=4
-- Lift: formulas with both, divided by how many there would be if the two were independent.
with held as (
    select distinct
        formula.id as formula_id,
        if($coarse <> 0, atom.coarse_signature_id, atom.signature_id) as signature_id
    from atom_formula
    join atom on atom.id = atom_formula.atom_id
    join current_formula as formula on formula.id = atom_formula.formula_id
    left join issue on issue.id = formula.issue_id
    where $class::varchar is null or coalesce(formula.bug_class, issue.bug_class) = $class
),
total as (
    select count(distinct formula_id) as formulas from held
),
alone as (
    select signature_id, count(*) as formulas from held group by signature_id having formulas >= $support
),
pair as (
    select a.signature_id as first_id, b.signature_id as second_id, count(*) as formulas
    from held as a
    join held as b on b.formula_id = a.formula_id and b.signature_id > a.signature_id
    where a.signature_id in (select signature_id from alone) and b.signature_id in (select signature_id from alone)
    group by all
    having count(*) >= $support
)
select
    first.text as first,
    second.text as second,
    pair.formulas as in_both,
    a.formulas as in_first,
    b.formulas as in_second,
    total.formulas as of_formulas,
    round(pair.formulas * total.formulas / (a.formulas * b.formulas), 2) as lift
from pair
join alone as a on a.signature_id = first_id
join alone as b on b.signature_id = second_id
join signature as first on first.id = first_id
join signature as second on second.id = second_id
cross join total
order by pair.formulas * total.formulas / (a.formulas * b.formulas) desc, in_both desc, first_id, second_id;
