-- Key of the hashes that scrubbing rules leave in place of values, sealed for its organisation; made with the first
-- rule that hashes. A new key would no longer tell that two hashes were the same value.
alter table projects add column scrub_key_sealed text;

-- What was asked to be erased, one row per person and project. Once done it holds no more than a hash, so that entries
-- received before and digested later are recognised.
create table erasures (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  org_id uuid not null,
  -- The same keyed hash as in issue_users.
  user_hash bigint not null,
  -- The user's id, sealed: needed to look into what is not digested. Null once done.
  user_key_sealed text,
  state text not null check (state in ('running', 'done')),
  requested_at timestamptz not null,
  finished_at timestamptz,
  -- What was erased so far, by kind.
  erased jsonb not null default '{}',
  unique (project_id, user_hash)
);
create index erasures_by_request on erasures (requested_at);
