-- The audit log: who did what, in one chain of hashes per organisation.

-- Without foreign keys: an entry outlives what it names.
create table audit_log (
  org_id uuid not null,
  -- 1, 2, 3 … without gaps.
  seq bigint not null,
  id uuid not null,
  created_at timestamptz not null,
  action text collate "C" not null,
  -- The type of its webhook event; null when it has none.
  event_type text,
  actor_type text not null check (actor_type in ('user', 'api_key', 'system', 'integration')),
  actor_id text collate "C",
  actor_email text collate "C",
  actor_role text,
  target_type text,
  target_id text collate "C",
  target_label text collate "C",
  project_id uuid,
  ip text,
  user_agent text,
  request_id text,
  session_id uuid,
  outcome text not null check (outcome in ('ok', 'denied', 'failed')),
  -- Canonical JSON as it was hashed: text, because jsonb would not return the same characters.
  meta text not null,
  -- SHA-256 of the hash before and the entry's canonical JSON; 32 zero bytes stand before the first.
  prev_hash bytea not null,
  hash bytea not null,
  -- HMAC of the hash: without the key of the service, no statement can make an entry that verifies.
  mac bytea not null,
  primary key (org_id, seq)
);
-- Lists are ordered by time, newest first, whichever field they filter.
create index audit_log_by_time on audit_log (org_id, created_at, seq);
create index audit_log_by_action on audit_log (org_id, action, created_at, seq);
create index audit_log_by_actor on audit_log (org_id, actor_id, created_at, seq);
create index audit_log_by_email on audit_log (org_id, actor_email, created_at, seq);
create index audit_log_by_target on audit_log (org_id, target_id, created_at, seq);
create index audit_log_by_label on audit_log (org_id, target_label, created_at, seq);

-- Entries are only added. The purge allows its own transaction to delete, by a setting that ends with it.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('faultline.audit_purge', true) = 'on' then
    return null;
  end if;
  raise exception 'audit_log only takes new entries: % is refused', tg_op;
end
$$;
create trigger audit_log_unchanged before update or delete or truncate on audit_log
  for each statement execute function refuse_audit_change();

-- The newest entry of each chain. A transaction that adds entries locks it last, in order of org_id.
create table audit_heads (
  org_id uuid primary key,
  seq bigint not null,
  hash bytea not null,
  -- Of organisation, seq and hash. Once it is wrong, those of all later entries are, too.
  mac bytea not null,
  -- Whether a signed head was ever written outside the database. It only says that such files exist somewhere.
  is_signed boolean not null default false
);

-- Up to where retention deleted a chain: verification starts behind it.
create table audit_checkpoints (
  org_id uuid primary key,
  seq bigint not null,
  hash bytea not null,
  created_at timestamptz not null,
  signature bytea not null
);

-- The installation's key, which signs heads and checkpoints and makes the HMACs: Ed25519, sealed.
create table audit_key (
  id integer primary key check (id = 1),
  private_sealed text not null,
  created_at timestamptz not null
);
