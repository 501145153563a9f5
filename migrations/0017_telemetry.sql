-- Structured logs, trace metrics and check-ins of scheduled jobs.

-- Partitioned by the day of receipt; retention drops whole days.
create table logs (
  received_day date not null,
  project_id uuid not null,
  -- UUIDv7: orders entries of the same millisecond by receipt.
  id uuid not null,
  received_at timestamptz not null,
  occurred_at timestamptz not null,
  level text not null,
  severity_number smallint not null,
  body text not null,
  trace_id uuid,
  span_id text,
  release text,
  environment text not null,
  -- {"key": {"value", "type", "unit"?}}
  attributes jsonb not null,
  -- What was dropped or corrected: [{"name", "reason"}]; null for nothing.
  notes jsonb
) partition by range (received_day);
create unique index logs_by_time on logs (project_id, occurred_at, id, received_day);
-- Finds the few errors without reading the many other entries.
create index logs_by_failure on logs (project_id, occurred_at, id) where level in ('error', 'fatal');
create index logs_by_trace on logs (project_id, trace_id, occurred_at) where trace_id is not null;

create table trace_metrics (
  received_day date not null,
  project_id uuid not null,
  id uuid not null,
  received_at timestamptz not null,
  occurred_at timestamptz not null,
  name text not null,
  type text not null,
  value double precision not null,
  unit text,
  trace_id uuid,
  span_id text,
  release text,
  environment text not null,
  attributes jsonb not null,
  notes jsonb
) partition by range (received_day);
create unique index trace_metrics_by_time on trace_metrics (project_id, occurred_at, id, received_day);
create index trace_metrics_by_name on trace_metrics (project_id, name, occurred_at, id);

-- Scheduled jobs that report their runs. The first check-in creates the monitor; a schedule comes with a check-in.
create table monitors (
  id uuid primary key,
  project_id uuid not null references project_ids,
  slug text not null,
  schedule_type text check (schedule_type in ('crontab', 'interval')),
  -- The crontab, or the number of units.
  schedule_value text,
  schedule_unit text,
  timezone text,
  checkin_margin_minutes integer,
  max_runtime_minutes integer,
  failure_issue_threshold integer,
  recovery_threshold integer,
  owner text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_check_in_at timestamptz not null,
  unique (project_id, slug)
);

create table check_ins (
  monitor_id uuid not null references monitors on delete cascade,
  -- The client's id, or a generated one if it sent none.
  id uuid not null,
  project_id uuid not null,
  status text not null check (status in ('in_progress', 'ok', 'error')),
  environment text not null,
  release text,
  trace_id uuid,
  duration_ms bigint,
  -- When the start was received, or derived from the duration; null if only an end without a duration arrived.
  started_at timestamptz,
  finished_at timestamptz,
  -- Receipt of the first message; lists sort by it.
  received_at timestamptz not null,
  updated_at timestamptz not null,
  notes jsonb,
  primary key (monitor_id, id)
);
create index check_ins_by_time on check_ins (project_id, received_at, id);
create index check_ins_of_monitor on check_ins (monitor_id, received_at, id);
create index check_ins_open on check_ins (monitor_id, environment, received_at) where status = 'in_progress';
