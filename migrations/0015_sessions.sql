-- Health of apps: their sessions and stored events, counted. (The table "sessions" holds the sign-ins of members.)

-- One row per session while updates may still arrive: six days from its start.
create table app_sessions (
  project_id uuid not null,
  sid uuid not null,
  -- What it is counted by and the bucket it is counted in: those of its first update. Empty for unknown.
  release text not null,
  environment text not null,
  os text not null,
  device text not null,
  device_class text not null,
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
