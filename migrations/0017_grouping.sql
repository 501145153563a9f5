-- Merging (docs/decisions/0079-merging-issues.md): rows of merged issues stay, hidden behind the one they lead to.
alter table issues
  -- The issue shown in its place. Always one that is shown itself, never another merged one.
  add column merged_into uuid references issues on delete cascade,
  -- How many lead to this one: digestion keeps facts apart only where it is not 0.
  add column merged_count integer not null default 0;
create index issues_by_merged_into on issues (merged_into) where merged_into is not null;

-- Where events of the fingerprint are filed: the issue it made. `issue_id` is the one they count for.
alter table issue_fingerprints add column source_id uuid;
update issue_fingerprints set source_id = issue_id;
alter table issue_fingerprints alter column source_id set not null;

-- What the issues that were merged, and the one they lead to, would say on their own; kept up by digestion.
create table issue_members (
  issue_id uuid primary key references issues on delete cascade,
  -- Its own hours and users are filed under this id: the root's own row counts for all of them.
  own_id uuid not null,
  root_id uuid not null references issues on delete cascade,
  -- What it was merged into by hand, which may since have been merged further; null for the root.
  parent_id uuid,
  merged_at timestamptz not null,
  merged_by uuid references users on delete set null,
  events_at_merge bigint not null,
  event_count bigint not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  title text not null,
  culprit text not null,
  error_type text,
  error_value text,
  level text not null,
  first_release text,
  last_release text,
  is_unhandled boolean not null,
  gravity smallint not null,
  severity smallint not null,
  last_event_id uuid,
  search_text text not null
);
create index issue_members_by_root on issue_members (root_id);

-- Problems nobody wants to hear of again, as they were when somebody said so.
create table discards (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  title text not null,
  issue_number integer not null,
  event_count bigint not null,
  discarded_by uuid references users on delete set null,
  created_at timestamptz not null
);
create index discards_by_project on discards (project_id, created_at, id);

create table discarded_fingerprints (
  project_id uuid not null,
  hash bytea not null,
  discard_id uuid not null references discards on delete cascade,
  grouping_version smallint not null,
  parts jsonb not null,
  primary key (project_id, hash)
);
create index discarded_fingerprints_by_discard on discarded_fingerprints (discard_id);
