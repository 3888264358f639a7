-- about: The issues and formulas that a skeleton was found in.
-- parameter: skeleton integer  The skeleton's id, as a test's header names it.
-- example: exhume query issues-behind-skeleton skeleton=12
select
    formula_provenance.tracker,
    formula_provenance.issue,
    formula_provenance.title,
    formula_provenance.bug_class,
    formula_provenance.source,
    count(*) as assertions
from assertion
join formula_provenance on formula_provenance.formula_id = assertion.formula_id
where assertion.skeleton_id = $skeleton and assertion.formula_id in (select id from current_formula)
group by all
order by formula_provenance.tracker, formula_provenance.issue, formula_provenance.source, assertions desc;
