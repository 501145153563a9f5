-- What alert rules of the triggers critical_path, pre_crash_state, battery_drain_threshold and security_event read
-- (server/journeys, server/precursors, server/performance, server/issue-recording). It is kept for a few days: a dry run
-- looks back seven.

-- Unhandled errors that name a journey of the project's critical_paths: what a batch adds per minute. Only appended.
create table journey_errors (
  project_id uuid not null,
  minute timestamptz not null,
  -- The pattern in critical_paths.
  journey text not null,
  errors integer not null
);
create index journey_errors_by_time on journey_errors (project_id, minute);
create index journey_errors_by_age on journey_errors (minute);

-- Signs that an app may soon crash: once per minute, owner and sign, so that repeated reports change nothing.
create table precursors (
  project_id uuid not null,
  minute timestamptz not null,
  -- 52 bits of a hash of the user, or of the device where no user is known.
  owner bigint not null,
  -- Position in PRECURSORS of server/precursors/precursor.ts; 0 is a crash.
  sign smallint not null,
  primary key (project_id, minute, owner, sign)
);
create index precursors_by_age on precursors (minute);

-- The memory an app used when it was last compared, for its growth. Owners share slots.
create table memory_levels (
  project_id uuid not null,
  slot integer not null,
  owner bigint not null,
  seen_at timestamptz not null,
  from_at timestamptz not null,
  from_bytes bigint not null,
  primary key (project_id, slot)
  -- No index on seen_at: every write would change it, and the hourly purge may read all rows.
) with (fillfactor = 80);

-- Devices whose battery drained in an hour: rollups of drains count pairs of levels, not devices.
create table battery_hours (
  project_id uuid not null,
  hour timestamptz not null,
  -- The key of battery_levels.
  device_key bigint not null,
  primary key (project_id, hour, device_key)
);
create index battery_hours_by_age on battery_hours (hour);

-- The first security event of a kind, group and hour.
create table security_hours (
  project_id uuid not null,
  hour timestamptz not null,
  group_id uuid not null,
  -- Position in SECURITY_KINDS of shared/alert-rules.ts.
  kind smallint not null,
  at timestamptz not null,
  primary key (project_id, hour, group_id, kind)
);
create index security_hours_by_age on security_hours (hour);
