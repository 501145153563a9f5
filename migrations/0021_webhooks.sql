-- Outbound webhooks: who receives which events, and the secrets that sign them. Deliveries are in the outbox.

-- What a webhook body names as app_id. Each organisation has one default application.
create table applications (
  id text collate "C" primary key,
  org_id uuid not null references orgs on delete cascade,
  name text not null,
  is_default boolean not null,
  created_at timestamptz not null
);
create unique index applications_default on applications (org_id) where is_default;

create table webhook_endpoints (
  id uuid primary key references outbox_lanes on delete cascade,
  org_id uuid not null references orgs on delete cascade,
  app_id text collate "C" not null references applications on delete cascade,
  url text not null,
  description text not null default '',
  -- Event types; empty means all.
  events text[] not null,
  secret_version integer not null default 1,
  -- Names and values of the endpoint's own headers, sealed; null means none.
  headers_sealed text,
  -- Adds the headers of Standard Webhooks.
  standard_headers boolean not null default false,
  -- Pauses the endpoint after days without success.
  auto_pause boolean not null default false,
  auto_paused_at timestamptz,
  -- Of the newest attempt; the status is null after a timeout or an error of the connection.
  last_status integer,
  last_attempt_at timestamptz,
  last_delivered_at timestamptz,
  -- Attempts that failed since the last success, and since when.
  failing_since timestamptz,
  failed_attempts integer not null default 0,
  -- The newest error of TLS, verbatim; null after a later success.
  tls_error jsonb,
  -- Codes of errors of TLS that the audit log has, with the minute: one entry per code and minute.
  tls_audited jsonb not null default '{}',
  -- Minute of the newest entry about exhausted deliveries, and those that wait for the next; null before the first.
  exhausted_audited jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create index webhook_endpoints_by_org on webhook_endpoints (org_id, created_at, id) where deleted_at is null;

create table webhook_secrets (
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  version integer not null,
  secret_sealed text not null,
  prefix text not null,
  created_at timestamptz not null,
  -- Until when the version before the current one also signs; null means it does not, or it is the current one.
  overlap_until timestamptz,
  primary key (endpoint_id, version)
);

-- Attempts per endpoint and UTC day.
create table webhook_days (
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  day date not null,
  delivered integer not null default 0,
  failed integer not null default 0,
  primary key (endpoint_id, day)
);
