-- Devices that users logged in with, and the secrets of links in mails.

-- A browser or program that a user logged in with. Its browser keeps a signed cookie with the id.
create table devices (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- HMAC of the user, the families of browser and system, and the class of the device; without versions and addresses.
  fingerprint bytea not null,
  label text not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  unique (user_id, fingerprint)
);
create index devices_by_time on devices (last_seen_at);

-- Links in mails that reset a password or confirm an address, each valid once.
create table account_tokens (
  user_id uuid not null references users on delete cascade,
  purpose text not null check (purpose in ('reset', 'email')),
  -- SHA-256 of the token, which only the mail contains.
  token_hash bytea not null unique,
  -- The address to confirm.
  email text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The newest one only.
  primary key (user_id, purpose)
);
