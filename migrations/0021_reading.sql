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
-- Facts begin with a sign that no word has: a question for words that begin with `os` or `user` found every issue that
-- has a fact whose key begins so (server/issues/search/lexemes.ts). Releases are found without their package, too.
create function fact_signs(document tsvector) returns tsvector language sql immutable strict as $$
  select array_to_tsvector(array(
    select case when position(E'\x1f' in l) > 1 then E'\x1d' || l else l end from unnest(tsvector_to_array(document)) l
    union
    select E'\x1drelease\x1f' || substring(l from '@([^@]+)$') from unnest(tsvector_to_array(document)) l
    where l like E'release\x1f%' and l ~ '@[^@]+$'))
$$;
alter table issue_search set (toast_tuple_target = 128);
-- One statement: it writes rows and index once. Words of other scripts than Latin without signs are made in another way
-- now; documents that hold some are added to from stored events.
alter table issue_search
  alter column document type tsvector using fact_signs(document),
  alter column document set storage external,
  alter column stale_since type timestamptz
    using case when octet_length(document::text) <> char_length(document::text) then now() else stale_since end,
  add column filler text not null generated always as (repeat(' ', 2100)) stored,
  alter column filler set storage main;
drop function fact_signs;
-- What waits is as it was; these documents are added to from stored events instead.
update issue_search set stale_since = now() where issue_id in (select issue_id from issue_new_lexemes);
delete from issue_new_lexemes;
