-- about: The issues and formulas that an atom was found in.
-- parameter: atom integer  The atom's id, as a test's header names it.
-- example: exhume query issues-behind-atom atom=12
select
    formula_provenance.tracker,
    formula_provenance.issue,
    formula_provenance.title,
    formula_provenance.bug_class,
    formula_provenance.source,
    atom_formula.uses
from atom_formula
join formula_provenance on formula_provenance.formula_id = atom_formula.formula_id
where atom_formula.atom_id = $atom and atom_formula.formula_id in (select id from current_formula)
order by formula_provenance.tracker, formula_provenance.issue, formula_provenance.source, atom_formula.uses desc;
