-- Merged and discarded issues. A merged issue keeps its row, hidden behind the merge target.

-- What each merged issue, and the merge target, would show on its own. Digestion keeps it current.
create table merged_issues (
  issue_id uuid primary key references issues on delete cascade,
  -- The id its own hours and users are stored under: the target's own id holds the sums.
  own_id uuid not null,
  -- The merge target.
  target_id uuid not null references issues on delete cascade,
  -- The issue it was merged into by a member; that one may have been merged since. Null for the target.
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
  event_severity smallint not null,
  severity smallint not null,
  last_event_id uuid,
  users_day date,
  high_impact_day date
);
create index merged_issues_by_target on merged_issues (target_id);

-- Discarded issues as they were at that time. New events with their fingerprints are not stored.
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
