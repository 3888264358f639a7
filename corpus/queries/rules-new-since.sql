-- about: New rules: those of the newest rule set that an earlier one does not have, by lift.
-- parameter: since date = null  A day; the newest rule set is compared with the one in use then. Without it: with the previous one.
-- parameter: coarse integer = 0  1 for coarse signatures, without widths and formats.
-- needs: rule.id  exhume learn
-- example: exhume query rules-new-since since=2024-01-01
with newest as (
    select max(id) as id from rule_set where coarse = ($coarse <> 0)
),
before as (
    select max(rule_set.id) as id
    from rule_set, newest
    where coarse = ($coarse <> 0)
        and rule_set.id < newest.id
        and ($since::timestamp is null or created_at < $since::timestamp)
)
select
    current_rule.rule_id as rule,
    list_sort(current_rule.antecedent).array_to_string(' , ') as if_formula_has,
    list_sort(current_rule.consequent).array_to_string(' , ') as it_also_has,
    current_rule.support,
    round(current_rule.confidence, 3) as confidence,
    round(current_rule.lift, 2) as lift
from newest
join current_rule on current_rule.rule_set_id = newest.id
join rule on rule.id = current_rule.rule_id
where not exists (
    select 1
    from rule as old, before
    where old.rule_set_id = before.id
        and list_sort(old.antecedent) = list_sort(rule.antecedent)
        and list_sort(old.consequent) = list_sort(rule.consequent)
)
order by current_rule.lift desc, current_rule.support desc, rule;
