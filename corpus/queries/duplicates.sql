-- about: Issues that are said to be duplicates, who says so, and whether both crash at the same place.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- needs: issue_link.duplicate  exhume mine --replay
-- example: exhume query duplicates
select
    tracker.name || '#' || issue.number as issue,
    link.target as duplicate_of,
    coalesce(comment.author_association, issue.author_association) as said_by,
    link.target = issue.duplicate_of as counts,
    issue.bug_class,
    other.bug_class as other_class,
    issue.crash_file is not null and (issue.crash_file, issue.crash_line) = (other.crash_file, other.crash_line)
        as same_crash_place,
    abs(date_diff('day', other.created_at, issue.created_at)) as days_apart,
    issue.title,
    other.title as other_title,
    link.text as words
from issue_link as link
join issue on issue.id = link.issue_id
join tracker on tracker.id = issue.tracker_id
left join comment on comment.id = link.comment_id
left join tracker as other_tracker on lower(other_tracker.name) = lower(string_split(link.target, '#')[1])
left join issue as other
    on other.tracker_id = other_tracker.id
    and other.number = try_cast(string_split(link.target, '#')[2] as integer)
where link.duplicate and ($tracker::varchar is null or tracker.name = $tracker)
order by issue.id, link.target, link.comment_id;
