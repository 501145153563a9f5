-- Codes of an authenticator app as the second factor, and the backup codes that replace them.

create table totp_factors (
  id uuid primary key,
  -- One per user: a new setup replaces one that was not verified.
  user_id uuid not null unique references users on delete cascade,
  -- The 20 bytes of RFC 6238, sealed with the master key.
  secret_sealed text not null,
  -- One salt for the whole set of backup codes: a check computes one hash.
  backup_salt bytea not null,
  created_at timestamptz not null,
  -- Null until a code proved that the app has the secret: log-in does not ask for codes yet.
  verified_at timestamptz,
  -- The time step of the code that verified the setup. Steps count 30 s since 1970.
  enrolled_step integer,
  -- The latest step a sign-in used: no code of it or of an earlier one is accepted again.
  used_step integer
);

create table backup_codes (
  factor_id uuid not null references totp_factors on delete cascade,
  hash bytea not null,
  used_at timestamptz,
  primary key (factor_id, hash)
);
