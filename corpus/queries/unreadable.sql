-- about: Formulas that cannot be parsed or are not well sorted, and why.
-- parameter: status text = null  error (not SMT-LIB) or read (not well sorted).
-- example: exhume query unreadable status=error
select source, status, error_line as line, error_column as "column", error
from current_formula
where status <> 'well-sorted' and ($status::varchar is null or status = $status)
order by id;
