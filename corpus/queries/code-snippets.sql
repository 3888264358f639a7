-- about: Code that is not SMT-LIB: programs that call a solver, and other input languages.
-- parameter: language language = null  Only this language: python, c++, sygus, yices, tptp.
-- parameter: class class = null  Only issues of this bug class: soundness, invalid-model, crash.
-- parameter: like text = '%'  Only code like this SQL pattern.
-- needs: block.written_in  exhume mine --replay
-- example: exhume query code-snippets language=python
select
    language,
    tracker || '#' || issue as issue,
    bug_class,
    len(string_split(trim(text, chr(10)), chr(10))) as lines,
    block_id as block,
    title,
    text
from code
where language <> 'smt-lib'
    and ($language::varchar is null or language = $language)
    and ($class::varchar is null or bug_class = $class)
    and text like $like
order by language, issue, block;
