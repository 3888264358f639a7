-- about: Formulas that contain all of some operators.
-- parameter: operators text  SMT-LIB names, separated by commas.
-- needs: formula.id  exhume mine
-- example: exhume query formulas-with operators=str.len,str.replace
select
    formula.id as formula,
    formula_provenance.tracker,
    formula_provenance.issue,
    formula.source,
    formula.logic,
    formula.bytes
from current_formula as formula
join formula_provenance on formula_provenance.formula_id = formula.id
where list_has_all(formula.operators, list_transform(string_split($operators, ','), lambda o: trim(o)))
order by formula.bytes, formula.id;
