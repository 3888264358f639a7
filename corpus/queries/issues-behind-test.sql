-- about: The issues that a generated test's skeletons and atoms came from, those with its rarest parts first.
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
    select 'skeleton', cast(trim(unnest(string_split($skeletons::varchar, ','))) as integer)
    union
    select 'atom', cast(trim(unnest(string_split($atoms::varchar, ','))) as integer)
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
),
held as (
    select stood.kind, stood.id, provenance.*, if(issue is null, source, null) as alone
    from stood
    join formula_provenance as provenance on provenance.formula_id = stood.formula_id
    where stood.formula_id in (select id from current_formula)
),
rare as (
    select kind, id, 1 / count(distinct (tracker, issue, alone)) as rarity from held group by all
)
select
    tracker,
    issue,
    title,
    bug_class,
    list_sort(list(distinct held.id) filter (where kind = 'skeleton')) as skeletons,
    list_sort(list(distinct held.id) filter (where kind = 'atom')) as atoms,
    count(distinct formula_id) as formulas,
    min_by(source, formula_id) as a_formula
from held
join rare using (kind, id)
group by tracker, issue, title, bug_class, alone
order by
    list_sum(list_transform(list_sort(list(distinct (rarity, kind, held.id))), lambda part: part[1])) desc,
    tracker, issue, a_formula;
