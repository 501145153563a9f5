-- Backups that this installation wrote, and restore drills of them. The backups themselves are in their folders.

create table backup_runs (
  id uuid primary key,
  folder text not null,
  started_at timestamptz not null,
  -- Null while it runs, and for ever when its process was killed.
  finished_at timestamptz,
  -- The time that names the backup; null unless it is complete.
  name text,
  -- Why it is not complete.
  problem text,
  row_count bigint,
  -- Before compression.
  byte_count bigint,
  -- Files that it names, and how much of them it wrote.
  stored_bytes bigint,
  written_bytes bigint
);
create index backup_runs_by_time on backup_runs (folder, started_at);

create table backup_drills (
  id uuid primary key,
  folder text not null,
  -- The backup that was restored.
  name text not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  -- restorable: every table had its rows and content. not_run: no scratch database could be made, which says nothing
  -- about the backup.
  outcome text not null check (outcome in ('restorable', 'not_restorable', 'not_run')),
  problem text,
  row_count bigint
);
create index backup_drills_by_time on backup_drills (folder, finished_at);
