-- Releases of a project (ingest.md §17.2): made by people and tools, and by what arrives under their name.
create table releases (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  version text not null,
  -- planned: named by somebody, nothing came from it yet.
  state text not null default 'planned' check (state in ('planned', 'open', 'archived')),
  url text,
  ref text,
  created_at timestamptz not null,
  released_at timestamptz,
  -- By receipt; the newest ones are up to a minute behind. "seen" counts events, sessions and transactions.
  first_seen_at timestamptz,
  last_seen_at timestamptz,
  first_event_at timestamptz,
  last_event_at timestamptz,
  first_session_at timestamptz,
  last_session_at timestamptz,
  -- Where it stands in time, for lists and charts.
  dated_at timestamptz not null generated always as (coalesce(released_at, first_seen_at, created_at)) stored,
  unique (project_id, version)
) with (fillfactor = 80);
create index releases_by_date on releases (project_id, dated_at, id);
create index releases_by_creation on releases (project_id, created_at, id);
create index releases_by_sight on releases (project_id, first_seen_at) where first_seen_at is not null;

create table release_commits (
  release_id uuid not null references releases on delete cascade,
  project_id uuid not null,
  -- Bytewise, so that the beginning of a hash is found by the index.
  sha text collate "C" not null,
  -- 0 is the newest of the release.
  position integer not null,
  repository text,
  message text,
  author_name text,
  author_email text,
  committed_at timestamptz,
  -- [{"path", "type": A, M or D}]
  files jsonb,
  primary key (release_id, sha)
);
create index release_commits_by_sha on release_commits (project_id, sha);
create index release_commits_by_position on release_commits (release_id, position);

create table deploys (
  id uuid primary key,
  release_id uuid not null references releases on delete cascade,
  project_id uuid not null,
  environment text not null,
  name text,
  url text,
  started_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null
);
create index deploys_by_release on deploys (release_id, created_at, id);
create index deploys_by_project on deploys (project_id, created_at);

-- What a release brought, had come back and fixed.
create index issues_by_first_release on issues (project_id, first_release) where first_release is not null;
create index issues_by_fix on issues (project_id, resolved_in_release) where resolved_in_release is not null;
create index issue_activity_by_regression on issue_activity ((data ->> 'release'), issue_id)
  where kind = 'status_changed' and data ->> 'to' = 'regressed';
