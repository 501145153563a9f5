-- Requests to erase a user of an app, one row per user and project. A finished request keeps only the hash: it identifies
-- entries that were received before the request and are digested after it.

create table erasures (
  id uuid primary key,
  project_id uuid not null references project_ids,
  org_id uuid not null,
  -- The same keyed hash as in issue_users.
  user_hash bigint not null,
  -- The user's id, sealed: needed to search entries that are not digested yet. Null once done.
  user_key_sealed text,
  state text not null check (state in ('running', 'done')),
  requested_at timestamptz not null,
  finished_at timestamptz,
  -- Rows erased so far, by kind.
  erased jsonb not null default '{}',
  unique (project_id, user_hash)
);
create index erasures_by_request on erasures (requested_at);
