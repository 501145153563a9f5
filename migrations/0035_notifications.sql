-- Where members receive pushes, and how they want to be notified.

-- A phone or browser that a member registered in one organisation. It may be registered in several, always by the same
-- user: the token belongs to the user who registered it last.
create table push_devices (
  id uuid primary key,
  org_id uuid not null,
  user_id uuid not null,
  platform text not null check (platform in ('ios', 'android', 'web')),
  provider text not null check (provider in ('expo', 'fcm')),
  -- Keyed hash of the token, by which it is found again.
  token_hash bytea not null,
  token_sealed text not null,
  -- The part of the token that may be shown.
  token_masked text not null,
  -- The session or the key that registered it: the device is removed with it.
  session_id uuid,
  api_key_id uuid references api_keys on delete cascade,
  created_at timestamptz not null,
  -- When an app sent the token last.
  registered_at timestamptz not null,
  -- When a provider accepted a push last.
  last_sent_at timestamptz,
  -- Of the newest push that failed; null after a later success.
  last_error_code text,
  last_error_text text,
  last_error_at timestamptz,
  foreign key (user_id, org_id) references memberships on delete cascade,
  unique (token_hash, org_id)
);
create index push_devices_by_member on push_devices (org_id, user_id);
create index push_devices_by_user on push_devices (user_id);
create index push_devices_by_session on push_devices (session_id) where session_id is not null;
create index push_devices_by_key on push_devices (api_key_id) where api_key_id is not null;

-- What a member chose; without a row the defaults hold (server/notifications/preferences.ts).
create table notification_preferences (
  user_id uuid not null,
  org_id uuid not null,
  email boolean not null,
  push boolean not null,
  push_min_severity text not null check (push_min_severity in ('low', 'medium', 'high', 'critical')),
  -- {enabled, start, end, time_zone, days}
  quiet_hours jsonb not null,
  updated_at timestamptz not null,
  primary key (user_id, org_id),
  foreign key (user_id, org_id) references memberships on delete cascade
);
