-- Reading with many issues (docs/decisions/0102-what-a-search-reads.md).

-- Words nothing reads any more: documents are what issues are found by. They were half of a row that is written with
-- every batch; the second change has the rows written anew without them.
alter table issues drop column search_text, alter column merged_count type integer using merged_count + 0;
alter table issues reset (toast_tuple_target);
alter table issue_members drop column search_text;

-- In the order of the list, with what is asked of issues most: which of them match is told without reading a row.
drop index issues_by_org_seen;
create index issues_by_org_seen on issues (org_id, seen_slot)
  include (id, project_id, status, severity, level, platform, is_unhandled, assignee_id, merged_into);

-- Documents away from the rows that their index leads to: eighty of these then share a page, where it were two to five.
-- PostgreSQL moves values out of rows of more than 2 kB only; the filler, kept as some 40 bytes, makes every row as long
-- as that when it is looked at.
alter table issue_search set (toast_tuple_target = 128);
alter table issue_search alter column document set storage external;
alter table issue_search add column filler text not null generated always as (repeat(' ', 2100)) stored;
alter table issue_search alter column filler set storage main;
