-- The spool: what was acknowledged and not yet digested. One row per group commit and shard, many envelopes in it.
create table spool (
  shard smallint not null,
  id bigint generated always as identity,
  -- When the oldest entry of the row came in.
  received_at timestamptz not null,
  entry_count integer not null,
  byte_count integer not null,
  -- How often a worker went away while it may have held this row.
  attempts smallint not null default 0,
  -- Who sent what, as JSON (server/spool/entry.ts), and the bodies one after the other as they came off the wire.
  entries bytea not null,
  body bytea not null,
  primary key (shard, id)
);
-- Bodies come compressed; trying again would only cost time.
alter table spool alter column body set storage external;
alter table spool alter column entries set storage external;
-- A queue is all dead rows sooner or later: clean up often, without pauses.
alter table spool set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0,
  toast.autovacuum_vacuum_threshold = 50000,
  toast.autovacuum_vacuum_cost_delay = 0
);

-- Entries nobody could digest: kept as they came, with the reason, so that they can be looked at and tried again.
create table spool_quarantine (
  id bigint generated always as identity primary key,
  -- No reference: an entry whose project was deleted meanwhile must still find its place here.
  project_id uuid not null,
  received_at timestamptz not null,
  quarantined_at timestamptz not null,
  reason text not null,
  attempts smallint not null,
  entry bytea not null,
  body bytea not null
);
create index spool_quarantine_by_project on spool_quarantine (project_id, quarantined_at);
