-- Keys that act as one membership. A request has the role of the membership, limited by the scopes of the key.
create table api_keys (
  id uuid primary key,
  user_id uuid not null,
  org_id uuid not null,
  name text not null,
  -- The first characters of the key, by which its owner recognises it.
  prefix text not null,
  -- SHA-256 of the key. The key is not stored.
  key_hash bytea not null unique,
  scopes text[] not null,
  created_at timestamptz not null,
  -- At most one write per minute.
  last_used_at timestamptz,
  expires_at timestamptz,
  foreign key (user_id, org_id) references memberships on delete cascade
);
create index api_keys_by_member on api_keys (user_id, org_id, created_at);
