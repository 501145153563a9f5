-- Sessions of apps (ingest.md §11). The table "sessions" holds those of people in the dashboard.

-- One row per session while updates may still come: six days from its start.
create table app_sessions (
  project_id uuid not null,
  sid uuid not null,
  -- What it is counted under, and the bucket it is counted in: of its first update.
  attributes_id bigint not null,
  started_at timestamptz not null,
  -- Which update that was.
  has_init boolean not null,
  first_update_at timestamptz not null,
  -- 0 ok, 1 exited, 2 errored, 3 unhandled, 4 abnormal, 5 crashed; only ever rises.
  status smallint not null,
  errors integer not null,
  duration_ms bigint,
  -- Whether an unhandled error was ever told, also when something graver followed.
  was_unhandled boolean not null,
  mechanism text,
  -- The same keyed hash as in issue_users.
  user_hash bigint,
  user_at timestamptz,
  primary key (project_id, sid)
) with (fillfactor = 85);
create index app_sessions_by_start on app_sessions (started_at);
create index app_sessions_by_user on app_sessions (project_id, user_hash) where user_hash is not null;

-- What sessions are counted by, under a hash of it: id 1 stands for everything beyond the day's bound.
create table session_attributes (
  project_id uuid not null,
  id bigint not null,
  -- Null for id 1.
  release text,
  environment text,
  os text,
  device text,
  created_day date not null,
  last_used_day date not null,
  primary key (project_id, id)
);
create index session_attributes_by_release on session_attributes (project_id, release);
create index session_attributes_by_day on session_attributes (project_id, created_day);

-- Sessions by the time they started: per bucket of 60, 900, 3,600 and 21,600 seconds, for each combination of
-- attributes and, under attributes_id 0, for all together.
create table session_rollups (
  project_id uuid not null,
  bucket_seconds integer not null,
  attributes_id bigint not null,
  bucket timestamptz not null,
  total bigint not null,
  -- Disjoint; what is in none of them was healthy.
  errored bigint not null,
  unhandled bigint not null,
  abnormal bigint not null,
  crashed bigint not null,
  anr_foreground bigint not null,
  anr_background bigint not null,
  -- HyperLogLog of user hashes; null without any.
  users bytea,
  unhandled_users bytea,
  crashed_users bytea,
  anr_users bytea,
  anr_foreground_users bytea,
  -- DDSketch of milliseconds, of sessions that ended.
  durations bytea,
  primary key (project_id, bucket_seconds, attributes_id, bucket)
) with (fillfactor = 80);
create index session_rollups_by_age on session_rollups (bucket_seconds, bucket);
