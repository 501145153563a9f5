-- Sessions of apps. (The table "sessions" holds the sign-ins of members.)

-- One row per session while updates may still arrive: six days from its start.
create table app_sessions (
  project_id uuid not null,
  sid uuid not null,
  -- The attributes and the bucket it is counted under: those of its first update.
  attributes_id bigint not null,
  started_at timestamptz not null,
  -- Whether an update with init has arrived, and the time of the first update.
  has_init boolean not null,
  first_update_at timestamptz not null,
  -- 0 ok, 1 exited, 2 errored, 3 unhandled, 4 abnormal, 5 crashed; never decreases.
  status smallint not null,
  errors integer not null,
  duration_ms bigint,
  -- Whether an unhandled error was reported, even if a more severe status followed.
  was_unhandled boolean not null,
  mechanism text,
  -- The same keyed hash as in issue_users.
  user_hash bigint,
  user_at timestamptz,
  primary key (project_id, sid)
) with (fillfactor = 85);
create index app_sessions_by_start on app_sessions (started_at);
create index app_sessions_by_user on app_sessions (project_id, user_hash) where user_hash is not null;

-- The combinations of attributes that sessions are counted under; the id is a hash of them. Id 1 stands for everything
-- beyond the daily limit of combinations.
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

-- Sessions by start time, in buckets of 60, 900, 3,600 and 21,600 seconds: one row per combination of attributes, and one
-- under attributes_id 0 for all of them together.
create table session_rollups (
  project_id uuid not null,
  bucket_seconds integer not null,
  attributes_id bigint not null,
  bucket timestamptz not null,
  total bigint not null,
  -- Disjoint; sessions in none of them are healthy.
  errored bigint not null,
  unhandled bigint not null,
  abnormal bigint not null,
  crashed bigint not null,
  anr_foreground bigint not null,
  anr_background bigint not null,
  -- HyperLogLog of user hashes; null for no users.
  users bytea,
  unhandled_users bytea,
  crashed_users bytea,
  anr_users bytea,
  anr_foreground_users bytea,
  -- DDSketch of the durations of ended sessions, in milliseconds.
  durations bytea,
  primary key (project_id, bucket_seconds, attributes_id, bucket)
) with (fillfactor = 80);
create index session_rollups_by_age on session_rollups (bucket_seconds, bucket);
