-- Organisations, people, sessions, keys of our own.

create table orgs (
  id uuid primary key,
  slug text not null unique,
  name text not null,
  -- Data key of this organisation, wrapped by a master key (server/storage/seal.ts).
  data_key_sealed text not null,
  created_at timestamptz not null
);

create table users (
  id uuid primary key,
  org_id uuid not null references orgs,
  -- Lower case: one account per address.
  email text not null unique,
  name text not null,
  role text not null check (role in ('viewer', 'member', 'admin', 'owner')),
  password_hash text,
  created_at timestamptz not null,
  disabled_at timestamptz,
  -- Access tokens issued before are refused.
  not_before timestamptz
);
create index users_by_org on users (org_id, created_at);

-- One row per signed-in browser: the family of its refresh tokens.
create table sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  org_id uuid not null references orgs on delete cascade,
  method text not null,
  -- Key of the HMAC in every refresh token of this family; tokens themselves are not stored.
  hmac_key_sealed text not null,
  -- The only counter a refresh token may carry now.
  counter integer not null default 0,
  -- Until then a token of counter - 1 is a parallel request, later it is theft.
  hold_until timestamptz,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  idle_expires_at timestamptz not null,
  expires_at timestamptz not null,
  ip text,
  user_agent text,
  ended_at timestamptz,
  end_reason text
);
create index sessions_by_user on sessions (user_id, last_used_at) where ended_at is null;

create table signing_keys (
  kid text primary key,
  state text not null check (state in ('active', 'retired')),
  public_jwk jsonb not null,
  private_sealed text not null,
  created_at timestamptz not null,
  retired_at timestamptz
);
create unique index signing_keys_one_active on signing_keys (state) where state = 'active';

-- A known plaintext under the master key: a wrong ENCRYPTION_KEYS is noticed at start, not at first use.
create table seal_canary (
  id integer primary key check (id = 1),
  sealed text not null
);

-- Counters of failed and costly attempts (log-in, sign-up, refresh).
create table attempt_counters (
  bucket text not null,
  key text not null,
  window_started_at timestamptz not null,
  attempts integer not null,
  blocked_until timestamptz,
  -- How often in a row the limit was passed: each block lasts twice as long.
  strikes integer not null default 0,
  primary key (bucket, key)
);
