-- Trackers of projects, and the tickets that issues have there.

create table tracker_integrations (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  project_id uuid not null unique references projects on delete cascade,
  provider text not null check (provider in ('tracker_a', 'tracker_b')),
  -- Address, credentials and the secret of the webhook, sealed with the key of the organisation.
  config_sealed text not null,
  -- SHA-256 of the token in the address of the webhook.
  token_hash bytea not null unique,
  -- The workspace or site, as the tracker names it: links of another one are not followed.
  workspace text not null,
  account text not null,
  team_id text not null,
  team_name text not null,
  type_id text,
  type_name text,
  sync_states boolean not null,
  created_by uuid references users on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_received_at timestamptz,
  last_sent_at timestamptz,
  -- The newest error, word for word; null after a later success.
  last_error text,
  last_error_at timestamptz,
  -- The tracker refused the credentials since then: nothing is sent until it is connected again.
  broken_at timestamptz,
  -- The tracker asked to wait until then.
  slowed_until timestamptz
);
create index tracker_integrations_by_org on tracker_integrations (org_id);
create index tracker_integrations_by_provider on tracker_integrations (provider, created_at);

create table tracker_tickets (
  issue_id uuid primary key references issues on delete cascade,
  org_id uuid not null,
  project_id uuid not null,
  -- Null when the integration was removed: the link stays, its state is not followed.
  integration_id uuid references tracker_integrations on delete set null,
  provider text not null check (provider in ('tracker_a', 'tracker_b')),
  state text not null check (state in ('creating', 'linked', 'gone')),
  -- Chosen before the first call: the ticket of a call whose answer was lost is found by it.
  marker uuid not null unique,
  -- While it is creating: who has the lease makes the call.
  lease_token uuid,
  lease_until timestamptz,
  external_id text,
  key text,
  url text,
  remote_state text check (remote_state in ('open', 'closed', 'reopening')),
  remote_status text,
  checked_at timestamptz,
  created_by uuid references users on delete set null,
  created_at timestamptz not null,
  check (state = 'creating' or (external_id is not null and key is not null and url is not null))
);
create index tracker_tickets_by_external on tracker_tickets (integration_id, external_id);
create index tracker_tickets_by_project on tracker_tickets (project_id);
