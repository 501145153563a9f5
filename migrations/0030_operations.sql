-- Work that a request started and that continues in the background.

create table operations (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  kind text not null check (kind in ('project.delete')),
  -- The project that is deleted, and its name.
  project_id uuid not null,
  label text not null,
  state text not null check (state in ('running', 'done')),
  -- Kinds of rows that are deleted, and rows so far.
  parts_done integer not null default 0,
  rows_deleted bigint not null default 0,
  -- Transactions before this one may have seen the project and still write its rows.
  horizon bigint,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index operations_by_time on operations (created_at);
create index operations_running on operations (created_at) where state = 'running';
