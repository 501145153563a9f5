-- Spans of traces that hold an error or are among the slowest (server/traces). They are kept for seven days.

-- What one envelope item says about a trace: a transaction with its spans, or streamed spans.
create table trace_parts (
  received_day date not null,
  project_id uuid not null,
  trace_id uuid not null,
  -- 52 bits of the id of its first span: an item that arrives twice is stored once.
  part bigint not null,
  received_at timestamptz not null,
  -- Of its segment; null when it holds none.
  name text,
  op text,
  duration_ms double precision,
  -- Number of spans, and their JSON, zstd.
  span_count integer not null,
  -- Spans of the item that are not stored: beyond 1,000, or invalid.
  left_out integer not null default 0,
  spans bytea not null,
  -- 0 not decided yet, 1 the trace holds an error, 2 it is among the slowest.
  keep smallint not null default 0,
  primary key (project_id, trace_id, part, received_day)
) partition by range (received_day);
alter table trace_parts alter column spans set storage external;
create index trace_parts_by_decision on trace_parts (keep, received_at);
create index trace_parts_by_time on trace_parts (project_id, received_at);

-- Error events that name a trace. Their number per minute is limited.
create table trace_errors (
  received_day date not null,
  project_id uuid not null,
  trace_id uuid not null,
  event_id uuid not null,
  occurred_at timestamptz not null,
  span_id text,
  primary key (project_id, trace_id, event_id, received_day)
) partition by range (received_day);

-- Per project and day of receipt: segments that arrived, those whose spans were considered, and traces kept.
create table trace_days (
  project_id uuid not null,
  day date not null,
  segments bigint not null default 0,
  considered bigint not null default 0,
  kept_for_error integer not null default 0,
  kept_for_slowness integer not null default 0,
  primary key (project_id, day)
);
