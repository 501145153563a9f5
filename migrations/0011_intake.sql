-- Limits of organisations, losses told by clients, storms.

-- Errors, transactions and security reports one organisation may send a day (UTC); null: as many as it likes.
alter table orgs add column events_per_day bigint check (events_per_day >= 0);

-- What counted against that limit, written by the intake every second. No reference: it is written far from any
-- transaction that knows whether the organisation still exists.
create table org_usage_daily (
  org_id uuid not null,
  day date not null,
  events bigint not null,
  primary key (org_id, day)
);

-- What SDKs say they lost before it reached us, by hour of receipt (ingest.md §7.4).
create table client_losses_hourly (
  project_id uuid not null,
  hour timestamptz not null,
  -- Which list of the report: lost by the SDK itself, or limited or filtered by a relay in between.
  kind text not null check (kind in ('discarded', 'rate_limited', 'filtered', 'filtered_sampling')),
  reason text not null,
  category text not null,
  quantity bigint not null,
  primary key (project_id, hour, kind, reason, category)
);

-- Hours in which a key was over its limit for errors and new kinds of them were let through nevertheless.
create table storms_hourly (
  project_id uuid not null,
  key_id uuid not null,
  hour timestamptz not null,
  -- Events let through, and of how many fingerprints nobody had seen.
  let_through bigint not null,
  fingerprints bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (project_id, key_id, hour)
);

-- The intake page asks for a project's hours, whatever their key.
create index outcomes_hourly_by_hour on outcomes_hourly (project_id, hour);
