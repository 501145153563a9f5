-- Discarded issues as they were at that time. New events with their fingerprints are not stored.
create table discards (
  id uuid primary key,
  project_id uuid not null references project_ids,
  title text not null,
  issue_number integer not null,
  event_count bigint not null,
  discarded_by uuid references users on delete set null,
  created_at timestamptz not null
);
create index discards_by_project on discards (project_id, created_at, id);

create table discarded_fingerprints (
  project_id uuid not null,
  hash bytea not null,
  discard_id uuid not null references discards on delete cascade,
  grouping_version smallint not null,
  parts jsonb not null,
  primary key (project_id, hash)
);
create index discarded_fingerprints_by_discard on discarded_fingerprints (discard_id);
