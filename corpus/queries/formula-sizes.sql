-- about: Sizes of formulas per bug class, incremental scripts apart: assertions, terms, bytes, quantifiers.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- parameter: theory theory = null  Only formulas of this theory, as in 'exhume query theories': UnicodeStrings.
-- needs: formula.id  exhume mine
-- example: exhume query formula-sizes
-- Incremental is a script with push and pop, or with more than one check. Near duplicates within an issue are
-- left out.
select
    coalesce(formula.bug_class, issue.bug_class) as bug_class,
    check_sats > 1 or pushes > 0 as incremental,
    count(*) as formulas,
    median(assertions) as median_assertions,
    median(terms) as median_terms,
    quantile_cont(terms, 0.9) as terms_of_nine_in_ten,
    median(bytes) as median_bytes,
    max(bytes) as most_bytes,
    round(avg((quantifiers > 0)::integer), 3) as share_with_quantifiers,
    round(avg(check_sats), 2) as mean_checks
from current_formula as formula
join tracker on tracker.id = formula.tracker_id
left join issue on issue.id = formula.issue_id
where formula.commands is not null and near_duplicate_of is null
    and ($tracker::varchar is null or tracker.name = $tracker)
    and ($theory::varchar is null or list_contains(theories, $theory))
group by all
order by bug_class nulls last, incremental;
