-- Lists and search of issues (docs/decisions/0082-the-search-document.md, 0083-sort-keys-that-stand-still.md).

-- Where an issue stands in a sort, coarsely: last seen in steps of 5 seconds, counts exactly below 8 and then in four
-- steps per doubling. Indexes hold these instead of values that change with every batch: an update that moves no key
-- touches no index. The order inside a step comes from the row itself. issues.queries.ts repeats the expressions.
alter table issues
  add column seen_slot timestamptz not null generated always as
    (date_bin(interval '5 seconds', last_seen, timestamptz '1970-01-01 00:00:00+00')) stored,
  add column events_rank smallint not null generated always as
    ((case when event_count < 8 then event_count else floor(ln(event_count::double precision) * 5.7707801635558535 - 4) end)::smallint) stored,
  add column users_rank smallint not null generated always as
    ((case when user_count < 8 then user_count else floor(ln(user_count::double precision) * 5.7707801635558535 - 4) end)::smallint) stored;

drop index issues_by_org, issues_by_org_status, issues_by_project, issues_by_search;
create index issues_by_org_seen on issues (org_id, seen_slot);
create index issues_by_org_status on issues (org_id, status, seen_slot) include (merged_into);
create index issues_by_org_first_seen on issues (org_id, first_seen, id);
create index issues_by_org_events on issues (org_id, events_rank);
create index issues_by_org_users on issues (org_id, users_rank);
create index issues_by_org_severity on issues (org_id, severity, id);
create index issues_by_assignee on issues (assignee_id, seen_slot) where assignee_id is not null;
create index issues_by_project_seen on issues (project_id, seen_slot);
create index issues_by_project_status on issues (project_id, status, seen_slot) include (merged_into);
create index issues_by_project_first_seen on issues (project_id, first_seen, id);
create index issues_by_project_events on issues (project_id, events_rank);
create index issues_by_project_users on issues (project_id, users_rank);
create index issues_by_project_severity on issues (project_id, severity, id);

-- What an issue is found by: words of its events, and facts as key and value (server/issues/search/lexemes.ts). Apart
-- from the issue, which changes with every batch.
create table issue_search (
  issue_id uuid primary key references issues on delete cascade,
  document tsvector not null,
  -- To be made anew from stored events since then.
  stale_since timestamptz
);
insert into issue_search (issue_id, document, stale_since)
select id, array_to_tsvector(array_append(tsvector_to_array(search_vector), E'\x1forg\x1f' || org_id::text)), now()
from issues;
-- Few entries wait outside the index: every search reads them all.
create index issue_search_by_document on issue_search using gin (document) with (gin_pending_list_limit = 512);
create index issue_search_stale on issue_search (stale_since) where stale_since is not null;
alter table issue_search alter column document set statistics 1000;
alter table issues drop column search_vector;
-- Words that only merging reads leave the row, which is written again with every batch.
alter table issues set (toast_tuple_target = 1024);

-- What digestion met for the first time in an issue: taken into its document a moment later, by a job.
create table issue_new_lexemes (
  id bigint generated always as identity primary key,
  issue_id uuid not null,
  -- Separated by U+001E.
  lexemes text not null
);

-- From a person to the issues they met, whatever their number.
create index issue_users_by_user on issue_users (user_hash);

-- Questions people ask again and again; shared ones are seen by the whole organisation.
create table issue_views (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  -- Who made it; a shared view outlives them.
  owner_id uuid references users on delete set null,
  name text not null,
  is_shared boolean not null,
  query text not null,
  sort text not null,
  filters jsonb not null default '{}',
  position integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index issue_views_by_org on issue_views (org_id, position, created_at);
create index issue_views_by_owner on issue_views (owner_id);
