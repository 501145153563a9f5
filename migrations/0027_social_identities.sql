-- Sign-in with an account at GitHub or Google, switched on by the operator.

-- Who the provider means. The issuer is part of it: the operator may point the setting to another server.
create table social_identities (
  provider text not null check (provider in ('github', 'google')),
  issuer text not null,
  subject text not null,
  user_id uuid not null references users on delete cascade,
  -- The name there, for the list in the dashboard; it identifies nothing.
  login text not null,
  linked_at timestamptz not null,
  last_used_at timestamptz,
  primary key (provider, issuer, subject)
);
create unique index social_identities_one_each on social_identities (user_id, provider);

-- As sso_transactions.
create table social_transactions (
  state_hash bytea primary key,
  browser_hash bytea not null,
  provider text not null,
  -- The session that links the identity; null when the browser signs in.
  linking_session_id uuid references sessions on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index social_transactions_by_end on social_transactions (expires_at);
create index social_transactions_by_session on social_transactions (linking_session_id);

-- An identity without a user, which can be linked once after a log-in with the password.
create table social_pending_links (
  token_hash bytea primary key,
  provider text not null,
  issuer text not null,
  subject text not null,
  login text not null,
  expires_at timestamptz not null
);
create index social_pending_links_by_end on social_pending_links (expires_at);
