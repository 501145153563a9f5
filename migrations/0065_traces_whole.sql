-- A row for each stored trace, across the projects of its organisation: what the list of traces reads. Spans stay in
-- trace_parts. A trace is kept for seven days.
create table traces (
  org_id uuid not null,
  trace_id uuid not null,
  -- The project whose limit it counts in: of its slow segment, its error, or its first span.
  project_id uuid not null,
  -- As in trace_parts: 0 not decided yet, 1 the trace holds an error, 2 it is among the slowest.
  keep smallint not null,
  received_at timestamptz not null,
  -- The newest part that this row knows, and whether it has to be written again.
  summarised_to timestamptz,
  is_stale boolean not null default false,
  -- By clocks that were corrected.
  started_at timestamptz not null,
  duration_ms double precision not null default 0,
  -- Its first span.
  name text not null default '',
  op text not null default '',
  failed boolean not null default false,
  -- 0 until the row is written.
  span_count integer not null default 0,
  -- [{"project_id", "spans", "path_ms"}], the project of the first span first.
  projects jsonb not null default '[]',
  project_ids uuid[] not null default '{}',
  -- Names of its segments.
  names text[] not null default '{}',
  releases text[] not null default '{}',
  environments text[] not null default '{}',
  -- "key:value" of its segments.
  tags text[] not null default '{}',
  primary key (org_id, trace_id)
);
create index traces_by_time on traces (org_id, started_at, trace_id);
create index traces_by_receipt on traces (received_at);
create index traces_of_project on traces (project_id);
create index traces_stale on traces (org_id, trace_id) where is_stale;
