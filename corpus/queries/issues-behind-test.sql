-- about: The issues that a generated test's skeletons and atoms came from.
-- parameter: header text = null  The test, or its header; ids are read from it.
-- parameter: skeletons text = null  Skeleton ids, separated by commas.
-- parameter: atoms text = null  Atom ids, separated by commas.
-- parameter: test integer = null  A row of the table test.
-- example: exhume query issues-behind-test skeletons=1,4 atoms=2,3
-- Ids are valid only in the corpus that the test was made from; exhume behind checks this.
with given as (
    select
        regexp_extract_all(regexp_extract($header, ';\s*skeletons ([0-9 ]+)', 1), '[0-9]+') as header_skeletons,
        regexp_extract_all(regexp_extract($header, '; atoms ([0-9 ]+)', 1), '[0-9]+') as header_atoms
),
part as (
    select 'skeleton' as kind, try_cast(unnest(header_skeletons) as integer) as id from given
    union
    select 'atom', try_cast(unnest(header_atoms) as integer) from given
    union
    select 'skeleton', try_cast(trim(unnest(string_split($skeletons::varchar, ','))) as integer)
    union
    select 'atom', try_cast(trim(unnest(string_split($atoms::varchar, ','))) as integer)
    union
    select 'skeleton', unnest(skeletons) from test where id = $test::integer
    union
    select 'atom', unnest(atoms) from test where id = $test::integer
),
stood as (
    select part.kind, part.id, assertion.formula_id
    from part join assertion on part.kind = 'skeleton' and assertion.skeleton_id = part.id
    union
    select part.kind, part.id, assertion.formula_id
    from part
    join assertion_atom on part.kind = 'atom' and assertion_atom.atom_id = part.id
    join assertion on assertion.id = assertion_atom.assertion_id
)
select
    formula_provenance.tracker,
    formula_provenance.issue,
    formula_provenance.title,
    formula_provenance.bug_class,
    list_sort(list(distinct stood.id) filter (where stood.kind = 'skeleton')) as skeletons,
    list_sort(list(distinct stood.id) filter (where stood.kind = 'atom')) as atoms,
    count(distinct stood.formula_id) as formulas,
    min_by(formula_provenance.source, stood.formula_id) as a_formula
from stood
join formula_provenance on formula_provenance.formula_id = stood.formula_id
where stood.formula_id in (select id from current_formula)
group by tracker, issue, title, bug_class, if(issue is null, source, null)
order by coalesce(len(atoms), 0) desc, coalesce(len(skeletons), 0) desc, tracker, issue, a_formula;
