-- about: Rules of the newest rule set, by lift.
-- parameter: coarse integer = 0  1 for coarse signatures, without widths and formats.
-- parameter: support integer = 0  Only rules with at least this support (number of formulas).
-- needs: rule.id  exhume learn
-- example: exhume query rules-by-lift support=5
select
    rule_id as rule,
    list_sort(antecedent).array_to_string(' , ') as if_formula_has,
    list_sort(consequent).array_to_string(' , ') as it_also_has,
    support,
    round(confidence, 3) as confidence,
    round(lift, 2) as lift,
    round(conviction, 2) as conviction
from current_rule
where coarse = ($coarse <> 0) and support >= $support
order by lift desc, support desc, rule_id;
