-- Stored events, one partition per received day; made by events/partitions.ts, dropped whole at the end of retention.
create table events (
  received_day date not null,
  project_id uuid not null,
  event_id uuid not null,
  issue_id uuid not null,
  received_at timestamptz not null,
  occurred_at timestamptz not null,
  sent_at timestamptz,
  level text not null,
  release text,
  environment text not null,
  client_ip text,
  user_agent text,
  -- The same keyed hash as in issue_users.
  user_hash bigint,
  -- 0 none, 1 gzip, 2 deflate, 3 br, 4 zstd
  body_encoding smallint not null,
  -- Where the event's JSON lies in the decoded body.
  body_start integer not null,
  body_end integer not null,
  body bytea not null
) partition by range (received_day);
-- Bodies arrive compressed.
alter table events alter column body set storage external;
-- Unique per day; over the last 7 days the digester asks before it writes.
create unique index events_by_id on events (project_id, event_id, received_day);
create index events_by_issue on events (issue_id, occurred_at, event_id);
-- Bodies of some KB stay in the row instead of moving to a side table with an index of its own.
-- (A storage parameter of the partitions: see events/partitions.ts.)
