-- Imports from a Sentry-compatible source, and from files.
create table imports (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  -- Address without a slash at its end, and the slug of the organisation there.
  source_url text not null,
  source_org text not null,
  -- Sealed with the data key of the organisation; null once the import ended.
  token_sealed text,
  state text not null check (state in ('mapping', 'running', 'paused', 'stopped', 'done')),
  -- Projects of the source, and what becomes of each (server/integrations/imports/imports.api.ts).
  mapping jsonb not null,
  -- Where it continues.
  position jsonb not null,
  -- Done and total by kind.
  counts jsonb not null,
  -- Why it waits, as a sentence.
  problem text,
  -- Attempts that failed one after the other.
  failures integer not null default 0,
  created_by uuid references users on delete set null,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz
);
create index imports_by_org on imports (org_id, created_at desc);
-- A source is imported once at a time.
create unique index imports_under_way on imports (org_id, source_url, source_org) where state in ('mapping', 'running', 'paused');

-- Things that came from a source: a second import adds only what is new there.
create table imported_things (
  org_id uuid not null references orgs on delete cascade,
  -- Address and organisation of the source, or the hash of a file.
  source text not null,
  kind text not null check (kind in ('project', 'issue', 'comment', 'rule', 'file')),
  source_id text not null,
  -- Id here.
  id uuid,
  -- Events that were counted for an issue; the place in a file.
  quantity bigint not null default 0,
  primary key (org_id, source, kind, source_id)
);

-- Things that are not here as they were there.
create table import_differences (
  import_id uuid not null references imports on delete cascade,
  kind text not null,
  reason text not null,
  instead text not null,
  count integer not null,
  -- At most five.
  examples jsonb not null,
  primary key (import_id, kind, reason)
);

-- The number of the project in the DSN of another service, whose key was taken over: apps keep their DSN.
alter table project_keys add column dsn_number text check (dsn_number ~ '^[1-9][0-9]{0,19}$');
-- Null: no mail was sent for an imported invitation.
alter table invites alter column sent_at drop not null;
