-- Invitations to an organisation that were neither accepted nor revoked, also expired ones.
create table invites (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  -- In lower case, as in users.
  email text not null,
  role text not null check (role in ('viewer', 'member', 'admin', 'owner')),
  -- The invitation stays valid when its sender leaves.
  invited_by uuid references users on delete set null,
  -- SHA-256 of the token in the newest mail.
  token_hash bytea not null unique,
  created_at timestamptz not null,
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  unique (org_id, email)
);
create index invites_by_org on invites (org_id, created_at, id);
create index invites_by_inviter on invites (invited_by);
