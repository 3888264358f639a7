-- about: Skeletons by the number of formulas that have them, for 'exhume generate --strategy enumerate --skeleton'.
-- parameter: holes integer = 1  Only skeletons with at least this many holes.
-- parameter: like text = '%'  Only skeletons like this SQL pattern.
-- needs: skeleton.id  exhume learn
-- example: exhume query skeletons holes=2 like='%forall%'
select id as skeleton, formulas, assertions, holes, binders, text
from skeleton
where formulas > 0 and holes >= $holes and text like $like
order by formulas desc, assertions desc, id;
