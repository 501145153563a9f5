-- Measurements of transactions, screens and pages, kept as sketches that merge (server/performance).

-- What measurements are counted under. Each counts in one series of every grain (server/performance/series.ts); a question
-- reads the coarsest that answers it, mostly one row per bucket.
create table performance_series (
  project_id uuid not null,
  -- Derived from the columns below, so that every process computes the same id.
  id uuid not null,
  grain smallint not null,
  name text not null,
  op text not null,
  release text not null,
  environment text not null,
  os text not null,
  device_class text not null,
  -- Only in the grain of devices; elsewhere empty.
  device text not null,
  -- Last day of receipt; performance_days counts the series once a day.
  last_day date not null,
  primary key (project_id, id)
);
create index performance_series_by_day on performance_series (project_id, last_day, name);

-- Names, series and devices a project used on a day. All are limited.
create table performance_days (
  project_id uuid not null,
  day date not null,
  names integer not null,
  series integer not null,
  devices integer not null default 0,
  primary key (project_id, day)
);

-- What digestion adds: one row per batch, series, device, metric and minute. Never updated; folded into rollups every
-- minute.
create table performance_deltas (
  project_id uuid not null,
  series_id uuid not null,
  device text not null,
  -- Position in METRICS of protocol/span-values.ts.
  metric smallint not null,
  minute timestamptz not null,
  count integer not null,
  failures integer not null,
  -- Values that do not count, by reason.
  too_long integer not null,
  prewarmed integer not null,
  invalid integer not null,
  sketch bytea not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
-- Varints: compressing them saves nothing.
alter table performance_deltas alter column sketch set storage external;
create index performance_deltas_by_time on performance_deltas (project_id, metric, minute);

-- The same, every measurement once per grain in a step of 360 minutes and in one of 2,880, until it is 15 days old in one of
-- 60, and until it is two days old in one of 1 or 15, depending on age. A question adds parts of them that do not overlap.
create table performance_rollups (
  project_id uuid not null,
  grain smallint not null,
  metric smallint not null,
  bucket timestamptz not null,
  step smallint not null,
  series_id uuid not null,
  count bigint not null,
  failures bigint not null,
  too_long bigint not null,
  prewarmed bigint not null,
  invalid bigint not null,
  sketch bytea not null,
  primary key (project_id, grain, metric, series_id, step, bucket)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table performance_rollups alter column sketch set storage external;
create index performance_rollups_by_age on performance_rollups (step, bucket);

-- Transactions, segments and values recorded in the last days, as 52 bits of a hash: a repeated one counts once. A segment
-- names its series, for values that arrive separately.
create table performance_seen (
  received_day date not null,
  key bigint not null,
  series_id uuid,
  primary key (key, received_day)
) partition by range (received_day);

-- Values whose segment has not arrived yet; kept for an hour.
create table performance_pending (
  segment_key bigint not null,
  project_id uuid not null,
  received_at timestamptz not null,
  occurred_at timestamptz not null,
  metric smallint not null,
  value double precision not null,
  -- Why it does not count, as in LEFT_OUT of protocol/span-values.ts; null when it does.
  left_out text,
  -- The series to use if the segment never arrives.
  name text not null,
  op text not null,
  release text not null,
  environment text not null,
  os text not null,
  device_class text not null,
  device text not null
);
create index performance_pending_by_segment on performance_pending (segment_key);
create index performance_pending_by_age on performance_pending (received_at);

-- The last battery level of a device of a user, to see how fast it falls; kept for a day. A project has at most 262,144
-- slots: another device takes over the slot of one with the same remainder of its key.
create table battery_levels (
  project_id uuid not null,
  slot integer not null,
  device_key bigint not null,
  seen_at timestamptz not null,
  -- Where the next drain is measured from; null after charging.
  from_at timestamptz,
  from_percent double precision,
  primary key (project_id, slot)
) with (fillfactor = 80);
create index battery_levels_by_age on battery_levels using brin (seen_at);
