-- about: Signatures by the number of formulas that have them.
-- parameter: coarse integer = 0  1 for coarse signatures, without widths and formats.
-- parameter: like text = '%'  Only signatures like this SQL pattern.
-- needs: signature.id  exhume learn
-- example: exhume query signatures like='(str.%'
select id as signature, text, formulas, atoms
from signature
where formulas > 0 and coarse = ($coarse <> 0) and text like $like
order by formulas desc, atoms desc, id;
