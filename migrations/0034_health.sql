-- What digestion adds: one row per batch, minute and combination of values. Never updated; a fold moves it into rollups.
-- Both hold the same counts, and readers add both, so every session and event is counted exactly once at any moment.
create table health_deltas (
  -- The order of changes of one session: a duration is added before it is removed.
  id bigint generated always as identity primary key,
  project_id uuid not null,
  -- Position in SOURCES of server/app-health/counts.ts: 0 sessions by their start, 1 stored events by their time.
  source smallint not null,
  minute timestamptz not null,
  -- Empty for unknown.
  release text not null,
  environment text not null,
  os text not null,
  device text not null,
  device_class text not null,
  -- Negative where a session changed its class or start.
  total bigint not null,
  -- Of sessions these four are disjoint; sessions in none of them are healthy.
  errored bigint not null,
  unhandled bigint not null,
  abnormal bigint not null,
  crashed bigint not null,
  anr_foreground bigint not null,
  anr_background bigint not null,
  critical bigint not null,
  -- HyperLogLog of user hashes; null for no users.
  users bytea,
  unhandled_users bytea,
  crashed_users bytea,
  anr_users bytea,
  anr_foreground_users bytea,
  -- DDSketches of durations of ended sessions in milliseconds, to be added and to be removed.
  durations bytea,
  durations_removed bytea
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
create index health_deltas_by_time on health_deltas (project_id, source, minute);

-- The values that rollups count by, at each level (LEVELS of server/app-health/dimensions.ts). Each level counts
-- everything once: rows of two levels must never be added. Id 0 is all; the others are 2^50 times the level, which is what
-- exceeds the limit of the level, plus a hash of the values.
create table health_attributes (
  project_id uuid not null,
  id bigint not null,
  level smallint not null,
  -- Null where the level does not count by it, and for what exceeds the limit.
  release text,
  environment text,
  os text,
  device text,
  device_class text,
  created_day date not null,
  last_used_day date not null,
  primary key (project_id, id)
);
create index health_attributes_by_level on health_attributes (project_id, level, last_used_day);
create index health_attributes_by_age on health_attributes (last_used_day);

-- New values of a project, level and day (UTC): those counted by name, and sessions and events that exceeded the limit, on
-- the day of their bucket.
create table health_days (
  project_id uuid not null,
  day date not null,
  level smallint not null,
  admitted integer not null,
  refused bigint not null,
  primary key (project_id, day, level)
);

-- Sums in buckets of 60, 900, 3,600, 21,600, 86,400 and 345,600 seconds, at every level. The columns are those of
-- health_deltas. Sketches have their own table: counting reads many of these rows, and they stay short.
create table health_rollups (
  project_id uuid not null,
  source smallint not null,
  bucket_seconds integer not null,
  attributes_id bigint not null,
  bucket timestamptz not null,
  total bigint not null,
  errored bigint not null,
  unhandled bigint not null,
  abnormal bigint not null,
  crashed bigint not null,
  anr_foreground bigint not null,
  anr_background bigint not null,
  critical bigint not null,
  -- What the sketches of users count: charts read these, and merge sketches only for what lies over several rows.
  users_count integer,
  unhandled_users_count integer,
  crashed_users_count integer,
  anr_users_count integer,
  anr_foreground_users_count integer,
  -- Charts read the buckets of some values. They add up tens of thousands of rows: of closed buckets from the index alone.
  primary key (project_id, source, bucket_seconds, attributes_id, bucket)
    include (total, crashed, unhandled, anr_foreground, anr_background, critical)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
-- Breakdowns read all values of a level in some buckets; purging starts from the oldest.
create index health_rollups_by_time on health_rollups (bucket_seconds, bucket, project_id, source, attributes_id)
  include (total, crashed, unhandled, anr_foreground, anr_background, critical);

-- The sketches of rollups that have any.
create table health_sketches (
  project_id uuid not null,
  source smallint not null,
  bucket_seconds integer not null,
  attributes_id bigint not null,
  bucket timestamptz not null,
  users bytea,
  unhandled_users bytea,
  crashed_users bytea,
  anr_users bytea,
  anr_foreground_users bytea,
  durations bytea,
  primary key (project_id, source, bucket_seconds, attributes_id, bucket)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
-- Hashes and registers: compressing them saves nothing.
alter table health_sketches alter column users set storage external;
alter table health_sketches alter column unhandled_users set storage external;
alter table health_sketches alter column crashed_users set storage external;
alter table health_sketches alter column anr_users set storage external;
alter table health_sketches alter column anr_foreground_users set storage external;
alter table health_sketches alter column durations set storage external;
create index health_sketches_by_age on health_sketches (bucket_seconds, bucket);

-- The device a user was last seen on, from events and transactions, for sessions that name none.
create table user_devices (
  project_id uuid not null,
  -- The same keyed hash as in issue_users.
  user_hash bigint not null,
  os text not null,
  device text not null,
  device_class text not null,
  -- May lag by a week.
  seen_day date not null,
  primary key (project_id, user_hash)
) with (fillfactor = 90);
create index user_devices_by_day on user_devices (seen_day);
