create table issues (
  id uuid primary key,
  org_id uuid not null,
  project_id uuid not null references projects on delete cascade,
  number integer not null,
  title text not null,
  culprit text not null,
  error_type text,
  error_value text,
  level text not null,
  platform text not null,
  status text not null check (status in ('unresolved', 'resolved', 'ignored', 'regressed', 'escalated')),
  status_reason text,
  status_changed_at timestamptz not null,
  resolved_at timestamptz,
  resolved_in_release text,
  ignore_until jsonb,
  severity smallint not null check (severity between 0 and 3), -- 3 critical, 2 high, 1 medium, 0 low
  severity_pinned boolean not null default false,
  assignee_id uuid references users on delete set null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  event_count bigint not null default 0,
  user_count bigint not null default 0,
  first_release text,
  last_release text,
  is_unhandled boolean not null,
  -- Event whose facts title, culprit and level come from.
  last_event_id uuid,
  search_text text not null,
  search_vector tsvector generated always as (to_tsvector('simple', search_text)) stored,
  created_at timestamptz not null,
  unique (project_id, number)
);
create index issues_by_org on issues (org_id, last_seen, id);
create index issues_by_org_status on issues (org_id, status, last_seen, id);
create index issues_by_project on issues (project_id, last_seen, id);
create index issues_by_search on issues using gin (search_vector);
-- Counts and times change with every batch: room for the new row version on the same page.
alter table issues set (fillfactor = 80);

-- Why events meet: one row per fingerprint; several may lead to one issue.
create table issue_fingerprints (
  project_id uuid not null,
  hash bytea not null,
  issue_id uuid not null references issues on delete cascade,
  grouping_version smallint not null,
  parts jsonb not null,
  created_at timestamptz not null,
  primary key (project_id, hash)
);
create index issue_fingerprints_by_issue on issue_fingerprints (issue_id);

-- Error events per issue and hour of their own time.
create table issue_hours (
  issue_id uuid not null,
  hour timestamptz not null,
  events integer not null,
  primary key (issue_id, hour)
);

-- Error events per project and minute of their own time.
create table project_minutes (
  project_id uuid not null,
  minute timestamptz not null,
  events integer not null,
  fatal integer not null,
  primary key (project_id, minute)
);

-- Distinct users of an issue, as a keyed hash of the user key.
create table issue_users (
  issue_id uuid not null,
  user_hash bigint not null,
  primary key (issue_id, user_hash)
);

create table issue_activity (
  id uuid primary key,
  issue_id uuid not null references issues on delete cascade,
  kind text not null,
  actor_id uuid references users on delete set null,
  sentence text not null,
  data jsonb not null default '{}',
  created_at timestamptz not null
);
create index issue_activity_by_issue on issue_activity (issue_id, created_at, id);

create table comments (
  id uuid primary key,
  issue_id uuid not null references issues on delete cascade,
  author_id uuid references users on delete set null,
  body text not null,
  created_at timestamptz not null,
  edited_at timestamptz
);
create index comments_by_issue on comments (issue_id, created_at, id);

-- What became of every item, per project key and hour of receipt.
create table outcomes_hourly (
  project_id uuid not null,
  key_id uuid not null,
  hour timestamptz not null,
  category text not null,
  outcome text not null check (outcome in ('accepted', 'filtered', 'rate_limited', 'invalid', 'duplicate', 'discarded', 'dropped')),
  reason text not null,
  quantity bigint not null,
  primary key (project_id, key_id, hour, category, outcome, reason)
);
