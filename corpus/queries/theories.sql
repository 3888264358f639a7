-- about: Formulas and issues per theory and tracker.
-- needs: formula.id  exhume mine
-- example: exhume query theories
select
    tracker.name as tracker,
    theory,
    count(*) as formulas,
    count(distinct issue_id) as issues
from (select tracker_id, issue_id, unnest(theories) as theory from current_formula) as used
join tracker on tracker.id = used.tracker_id
group by all
order by tracker, formulas desc, theory;
