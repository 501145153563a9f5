-- Outgoing deliveries of all channels: signed webhooks, mails, and actions of alerts. All due times are now(), never
-- current_timestamp, so that tests can move the clock.

-- One destination: a webhook endpoint, or the mails of an organisation. Bounds and pauses apply to it as a whole.
create table outbox_lanes (
  -- Also the id of the endpoint.
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  channel text not null,
  max_in_flight integer not null default 100 check (max_in_flight between 1 and 100),
  -- Delays first attempts only; null means no limit.
  max_per_second integer check (max_per_second between 1 and 1000),
  -- The time up to which first attempts have used their share of max_per_second.
  rate_used_until timestamptz not null default '-infinity',
  -- The next delivery waits until the one before is delivered or finally failed.
  is_strict boolean not null default false,
  paused_at timestamptz,
  -- Nothing is sent any more. Its deliveries end with this reason, such as endpoint_deleted.
  closed_at timestamptz,
  closed_reason text
);
create index outbox_lanes_by_org on outbox_lanes (org_id);

-- What is sent, shared by the deliveries to several lanes.
create table outbox_messages (
  id text collate "C" primary key,
  org_id uuid not null references orgs on delete cascade,
  type text not null,
  -- Whom it is about; null once erased.
  user_id uuid,
  -- Serialised once, sent unchanged in every attempt; null once erased.
  body bytea,
  -- In milliseconds, as the driver reads times: cursors of lists compare it.
  created_at timestamptz(3) not null default now()
);
create index outbox_messages_by_user on outbox_messages (user_id) where user_id is not null;
create index outbox_messages_by_time on outbox_messages (created_at);
create index outbox_messages_by_org on outbox_messages (org_id);

-- A message on its way to a lane.
create table outbox_deliveries (
  id text collate "C" primary key,
  -- The order in which strict lanes send: ids follow the clock of the service.
  seq bigint not null generated always as identity,
  lane_id uuid not null references outbox_lanes on delete cascade,
  org_id uuid not null,
  message_id text collate "C" not null references outbox_messages on delete cascade,
  type text not null,
  state text not null default 'pending' check (state in ('pending', 'in_flight', 'delivered', 'failed')),
  -- Attempts of the schedule that have ended; and of all, with replays.
  attempt integer not null default 0,
  attempts_made integer not null default 0,
  -- When the schedule makes its next attempt, also while that is in flight; null when none is left.
  next_attempt_at timestamptz default now(),
  -- When a worker takes it: the end of its lease, now when a replay was asked for, else next_attempt_at.
  due_at timestamptz default now(),
  -- A worker has it: only this token may record the result.
  lease_token uuid,
  -- The leased attempt is a replay.
  lease_replay text check (lease_replay in ('once', 'with_retries')),
  -- A replay was asked for: one attempt, or one that begins a new schedule when it fails.
  replay text check (replay in ('once', 'with_retries')),
  -- The version of the secret that signs attempts of the schedule.
  secret_version integer,
  -- Of the newest attempt.
  last_status integer,
  last_error_code text,
  last_duration_ms integer,
  -- Why it ended without an attempt, such as endpoint_deleted.
  reason text,
  created_at timestamptz(3) not null default now(),
  delivered_at timestamptz,
  erased_at timestamptz,
  -- Delayed by max_per_second.
  is_first boolean not null generated always as (attempts_made = 0 and replay is null and lease_replay is null) stored,
  -- The state, with `retrying` for a failed delivery that has attempts left.
  status text not null generated always as
    (case when state = 'failed' and next_attempt_at is not null then 'retrying' else state end) stored
) with (fillfactor = 80);
create index outbox_due on outbox_deliveries (lane_id, is_first, due_at) where due_at is not null;
create index outbox_in_flight on outbox_deliveries (lane_id) where lease_token is not null;
-- For strict order: the oldest delivery whose schedule has not ended.
create index outbox_open on outbox_deliveries (lane_id, seq) where next_attempt_at is not null;
create index outbox_deliveries_by_lane on outbox_deliveries (lane_id, created_at, id);
create index outbox_deliveries_by_status on outbox_deliveries (lane_id, status, type, created_at, id);
create index outbox_deliveries_by_message on outbox_deliveries (message_id);

create table outbox_attempts (
  delivery_id text collate "C" not null references outbox_deliveries on delete cascade,
  n integer not null,
  trigger text not null check (trigger in ('schedule', 'replay')),
  started_at timestamptz not null,
  duration_ms integer not null,
  status integer,
  error_code text,
  error_text text,
  -- What the channel keeps of the request and the answer.
  details jsonb not null default '{}',
  primary key (delivery_id, n)
);
