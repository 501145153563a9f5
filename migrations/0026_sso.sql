-- Single sign-on of an organisation through its own OIDC provider.

create table sso_configs (
  org_id uuid primary key references orgs on delete cascade,
  -- Compared byte for byte with what the provider says of itself.
  issuer text not null,
  client_id text not null,
  client_secret_sealed text not null,
  client_secret_updated_at timestamptz not null,
  -- Whether users whom the provider names for the first time become members.
  jit boolean not null,
  default_role text not null check (default_role in ('viewer', 'member')),
  -- Whether members of the verified domains can no longer use a password.
  enforced boolean not null,
  -- The newest sign-in that the provider's answer made fail, for the owners.
  last_error text,
  last_error_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table sso_domains (
  org_id uuid not null references sso_configs on delete cascade,
  -- In lower case, internationalised names in ASCII form.
  domain text not null,
  -- Public: the TXT record of the domain shows it.
  token text not null,
  created_at timestamptz not null,
  -- Null until the proof was found.
  verified_at timestamptz,
  -- The operator's word needs no record and is not checked again.
  verified_by text check (verified_by in ('dns', 'operator')),
  -- When the record was found last.
  checked_at timestamptz,
  -- Since when the record of a verified domain is missing.
  missing_since timestamptz,
  primary key (org_id, domain),
  check ((verified_at is null) = (verified_by is null))
);
-- A domain proves the addresses of users for one organisation only.
create unique index sso_domains_verified on sso_domains (domain) where verified_at is not null;

-- Who the provider means: (organisation, issuer, subject) and nothing else. E-mail addresses change hands.
create table sso_identities (
  org_id uuid not null,
  issuer text not null,
  subject text not null,
  user_id uuid not null,
  linked_at timestamptz not null,
  last_used_at timestamptz not null,
  primary key (org_id, issuer, subject),
  foreign key (user_id, org_id) references memberships on delete cascade
);
create index sso_identities_of_member on sso_identities (user_id, org_id);

-- A browser on its way to the provider and back. The row and the browser's cookie are used together, once.
create table sso_transactions (
  -- SHA-256 of `state`.
  state_hash bytea primary key,
  -- SHA-256 of the cookie. The nonce and the PKCE verifier are derived from the cookie and not stored.
  browser_hash bytea not null,
  org_id uuid not null references sso_configs on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index sso_transactions_by_end on sso_transactions (expires_at);
create index sso_transactions_of_org on sso_transactions (org_id);

-- An identity that the provider proved and that the user's password must confirm before it is linked.
create table sso_pending_links (
  token_hash bytea primary key,
  org_id uuid not null references sso_configs on delete cascade,
  issuer text not null,
  subject text not null,
  user_id uuid not null references users on delete cascade,
  -- Whether the provider checked a second factor.
  has_second_factor boolean not null,
  expires_at timestamptz not null
);
create index sso_pending_links_by_end on sso_pending_links (expires_at);
create index sso_pending_links_of_org on sso_pending_links (org_id);
create index sso_pending_links_of_user on sso_pending_links (user_id);
