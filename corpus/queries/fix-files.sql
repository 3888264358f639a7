-- about: What fixes touched: the files that fixing commits and pull requests changed, by the number of issues.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- parameter: class class = null  Only issues of this bug class: soundness, invalid-model, crash.
-- parameter: theory text = null  Only issues with a formula of this theory: Ints, UnicodeStrings.
-- parameter: by text = 'file'  file, or folder to count the files of a folder together.
-- parameter: like text = '%'  Only files like this SQL pattern.
-- needs: fix_file.file  exhume mine --fix-files
-- example: exhume query fix-files by=folder
-- `share` is the part of all issues with known files. A fix of several issues counts for each of them.
with about as (
    select issue_id, list_distinct(flatten(list(theories))) as theories
    from current_formula
    where issue_id is not null
    group by issue_id
),
touched as (
    select distinct
        issue.id,
        tracker.name || '#' || issue.number as name,
        issue.bug_class,
        issue.area,
        coalesce(about.theories, []) as theories,
        if($by = 'folder', regexp_replace(file, '/?[^/]*$', ''), file) as place,
        file like $like as is_shown
    from fix_file
    join issue_link on issue_link.target = fix_file.target and fixes
    join issue on issue.id = issue_link.issue_id
    join tracker on tracker.id = issue.tracker_id
    left join about on about.issue_id = issue.id
    where ($by in ('file', 'folder') or error('by is file or folder')::boolean)
        and ($tracker::varchar is null or tracker.name = $tracker)
        and ($class::varchar is null or issue.bug_class = $class)
        and ($theory::varchar is null or list_contains(coalesce(about.theories, []), $theory))
)
select
    place,
    count(*) as issues,
    round(count(*) / (select count(distinct id) from touched), 3) as share,
    list_sort(list(distinct bug_class)) as classes,
    list_sort(list(distinct area) filter (where area is not null)) as areas,
    list_sort(list_filter(list_distinct(flatten(list(theories))), lambda theory: theory <> 'Core')) as theories,
    min_by(name, id) as an_issue
from touched
where is_shown
group by place
order by issues desc, place;
