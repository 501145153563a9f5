-- Organisations, users and how they sign in.

create table orgs (
  id uuid primary key,
  slug text not null unique,
  name text not null,
  -- The organisation's data key, sealed with the master key (server/storage/seal.ts).
  data_key_sealed text not null,
  created_at timestamptz not null,
  -- Errors, transactions and security reports the organisation may send per UTC day; null means no limit.
  events_per_day bigint check (events_per_day >= 0),
  -- When a member was invited for the first time: a step of the setup.
  first_invite_at timestamptz
);

create table users (
  id uuid primary key,
  -- In lower case: one account per address.
  email text not null unique,
  name text not null,
  password_hash text,
  created_at timestamptz not null,
  -- Ends every membership; see memberships.disabled_at for one of them.
  disabled_at timestamptz,
  -- When the user first logged in: no mail warns of that device.
  first_device_at timestamptz,
  -- Access tokens issued before this time are refused.
  not_before timestamptz
);

-- A user in an organisation. A user may belong to several; what belongs to a member refers to this row.
create table memberships (
  user_id uuid not null references users on delete cascade,
  org_id uuid not null references orgs on delete cascade,
  role text not null check (role in ('viewer', 'member', 'admin', 'owner')),
  created_at timestamptz not null,
  -- When a session of this membership began or was refreshed last. Log-in continues in the organisation used last.
  last_used_at timestamptz,
  -- The member cannot log in here, nor be assigned or notified.
  disabled_at timestamptz,
  -- No longer a member. The row stays, so that issues and comments still name who was assigned or wrote; an accepted
  -- invitation makes it a membership again.
  removed_at timestamptz,
  primary key (user_id, org_id),
  check (removed_at is null or disabled_at is not null)
);
create index memberships_by_org on memberships (org_id, created_at, user_id);

-- One row per signed-in browser, for one membership. Its refresh tokens form one family.
create table sessions (
  id uuid primary key,
  user_id uuid not null,
  org_id uuid not null,
  method text not null,
  -- Key of the HMAC in every refresh token of this family. The tokens are not stored.
  hmac_key_sealed text not null,
  -- The counter the current refresh token carries.
  counter integer not null default 0,
  -- A token with counter - 1 is a parallel request until this time and a stolen token after it.
  hold_until timestamptz,
  -- When the user last proved who they are. Switching the organisation keeps it.
  authenticated_at timestamptz not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  idle_expires_at timestamptz not null,
  expires_at timestamptz not null,
  ip text,
  user_agent text,
  -- The device it was started on; it may have been forgotten since.
  device_id uuid,
  ended_at timestamptz,
  end_reason text,
  foreign key (user_id, org_id) references memberships on delete cascade
);
create index sessions_by_user on sessions (user_id, last_used_at) where ended_at is null;
-- Deleting a user reads ended sessions too.
create index sessions_of_user on sessions (user_id);

create table signing_keys (
  kid text primary key,
  state text not null check (state in ('active', 'retired')),
  public_jwk jsonb not null,
  private_sealed text not null,
  created_at timestamptz not null,
  retired_at timestamptz
);
create unique index signing_keys_one_active on signing_keys (state) where state = 'active';

-- A known text sealed with the master key. A wrong ENCRYPTION_KEYS fails at start instead of at first use.
create table seal_canary (
  id integer primary key check (id = 1),
  sealed text not null
);

-- Attempts that are limited: log-in, sign-up, refresh.
create table attempt_counters (
  bucket text not null,
  key text not null,
  window_started_at timestamptz not null,
  attempts integer not null,
  blocked_until timestamptz,
  -- Consecutive times the limit was exceeded. Each block lasts twice as long as the one before.
  strikes integer not null default 0,
  primary key (bucket, key)
);
