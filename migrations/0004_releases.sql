-- Releases of a project, their commits and deploys.

-- A text that sorts like the version, compared byte by byte. Numbers are prefixed with their length; 2.3.1-rc.1 sorts
-- before 2.3.1, and that before 2.3.1.1 and 2.3.1+77; packages sort apart. rc9 is written rc.9 before, Python's 2.0.0rc9
-- as 2.0.0-rc.9, and its 2.1.0.dev3 as 2.1.0-0.dev.3. For lists only: releases/version.ts decides which of two releases
-- is older.
create function release_sort_key(version text) returns text language sql immutable strict parallel safe as $$
  select coalesce(string_agg(
    case
      when m.part[1] ~ '^[0-9]'
        then lpad(length(ltrim(m.part[1], '0'))::text, 3, '0') || ltrim(m.part[1], '0')
      else translate(m.part[1], '-.+', E'\x01\x03\x04')
    end, '' order by m.place), '') || E'\x02'
  from regexp_matches(
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(
      regexp_replace(version, '(^|@)[vV]([0-9])', '\1\2'),
      '([.][0-9]+)[._-]?(post)[._-]?([0-9]+)(?=[+]|$)', '\1.\2.\3', 'i'),
      '([.][0-9]+)[._]?(dev)[._-]?([0-9]+)(?=[+]|$)', '\1-0.\2.\3', 'i'),
      '([.][0-9]+)[._]?(alpha|beta|pre|rc|[abc])[._-]?([0-9]+)(?=[+]|$)', '\1-\2.\3', 'i'),
      '([-.][A-Za-z]+)([0-9]+)(?=[-+.]|$)', '\1.\2', 'g'),
    '[0-9]+|[^0-9]+', 'g')
    with ordinality m (part, place)
$$;

-- Made by members and tools, and by the first event, session or transaction that names the version.
create table releases (
  id uuid primary key,
  project_id uuid not null references project_ids,
  version text not null,
  -- planned: announced, but nothing was received from it yet.
  state text not null default 'planned' check (state in ('planned', 'open', 'archived')),
  url text,
  ref text,
  created_at timestamptz not null,
  released_at timestamptz,
  -- Times of receipt; last_* may lag by a minute. "seen" covers events, sessions and transactions.
  first_seen_at timestamptz,
  last_seen_at timestamptz,
  first_event_at timestamptz,
  last_event_at timestamptz,
  first_session_at timestamptz,
  last_session_at timestamptz,
  -- The date of the release in lists and charts.
  dated_at timestamptz not null generated always as (coalesce(released_at, first_seen_at, created_at)) stored,
  version_key text collate "C" not null generated always as (release_sort_key(version)) stored,
  unique (project_id, version)
) with (fillfactor = 80);
create index releases_by_date on releases (project_id, dated_at, id);
create index releases_by_creation on releases (project_id, created_at, id);
create index releases_by_sight on releases (project_id, first_seen_at) where first_seen_at is not null;

create table release_commits (
  release_id uuid not null references releases on delete cascade,
  project_id uuid not null,
  -- Compared byte by byte, so that the index finds abbreviated hashes.
  sha text collate "C" not null,
  -- 0 is the newest commit of the release.
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
