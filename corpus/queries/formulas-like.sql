-- about: The formulas of the corpus that are most similar to one of them, by shared signatures.
-- parameter: formula integer  The formula's id.
-- parameter: least number = 0.1  Only formulas with at least this similarity, from 0 (nothing in common) to 1.
-- needs: assertion_atom.atom_id  exhume learn
-- example: exhume query formulas-like formula=1
-- Likeness is the weighted Jaccard index of the two formulas' signatures, full and coarse: rare ones weigh more,
-- ln(1 + formulas / formulas that have it). exhume similar compares a file.
with held as (
    select distinct formula.id as formula_id, unnest([atom.signature_id, atom.coarse_signature_id]) as signature_id
    from atom_formula
    join atom on atom.id = atom_formula.atom_id
    join current_formula as formula on formula.id = atom_formula.formula_id
),
weight as (
    select
        signature_id,
        ln(1 + (select count(distinct formula_id) from held) / count(*)) as weight
    from held
    group by signature_id
),
total as (
    select formula_id, sum(weight) as weight
    from held join weight on weight.signature_id = held.signature_id
    group by formula_id
),
shared as (
    select other.formula_id, sum(weight.weight) as weight, count(*) as signatures
    from held as given
    join held as other on other.signature_id = given.signature_id and other.formula_id <> given.formula_id
    join weight on weight.signature_id = given.signature_id
    where given.formula_id = $formula
    group by other.formula_id
),
scored as (
    select
        shared.formula_id,
        shared.weight / (total.weight + given.weight - shared.weight) as likeness,
        shared.signatures
    from shared
    join total on total.formula_id = shared.formula_id
    join total as given on given.formula_id = $formula
)
select
    scored.formula_id as formula,
    round(likeness, 4) as likeness,
    signatures as shared_signatures,
    tracker,
    issue,
    title,
    bug_class,
    source
from scored
join formula_provenance on formula_provenance.formula_id = scored.formula_id
where likeness >= $least
order by likeness desc, formula;
