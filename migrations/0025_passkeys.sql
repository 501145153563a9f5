-- Passkeys (WebAuthn credentials), each of which is both factors of a sign-in.

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- Chosen by the authenticator; unique in the installation.
  credential_id bytea not null unique,
  -- In COSE form.
  public_key bytea not null,
  -- The signature counter of its last use; 0 for authenticators that do not count.
  counter bigint not null,
  name text not null,
  transports text[] not null,
  backed_up boolean not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_of_user on passkeys (user_id, created_at);

-- Challenges that were answered, by their SHA-256: each is accepted once. Those given out are in sealed cookies only.
create table used_challenges (
  hash bytea primary key,
  expires_at timestamptz not null
);
create index used_challenges_by_end on used_challenges (expires_at);
