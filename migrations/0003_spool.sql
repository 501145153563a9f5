-- The spool: requests that were acknowledged and are not digested yet.

-- One row per group commit and project; a row holds many entries.
create table spool (
  shard smallint not null,
  project_number integer not null,
  id bigint generated always as identity,
  -- Time of the oldest entry in the row.
  received_at timestamptz not null,
  entry_count integer not null,
  byte_count integer not null,
  -- Workers that died while they may have held this row.
  attempts smallint not null default 0,
  -- Metadata of the entries as JSON (server/spool/entry.ts), and their bodies, concatenated as they were received.
  entries bytea not null,
  body bytea not null,
  -- Digestion reads the rows of each project in their order.
  primary key (shard, project_number, id)
);
-- Bodies arrive compressed: compressing them again costs time and saves nothing.
alter table spool alter column body set storage external;
alter table spool alter column entries set storage external;
-- Every row of a queue is deleted soon: vacuum often and without pauses.
alter table spool set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0,
  toast.autovacuum_vacuum_threshold = 50000,
  toast.autovacuum_vacuum_cost_delay = 0
);

-- Entries that digestion could not process, unchanged and with the reason, for inspection and another attempt.
create table spool_quarantine (
  id bigint generated always as identity primary key,
  -- No foreign key: the project may have been deleted after the entry was received.
  project_id uuid not null,
  received_at timestamptz not null,
  quarantined_at timestamptz not null,
  reason text not null,
  attempts smallint not null,
  entry bytea not null,
  body bytea not null
);
create index spool_quarantine_by_project on spool_quarantine (project_id, quarantined_at);
