-- Outcomes of all items, losses reported by clients, quotas and flood sampling.

-- One outcome per item, counted per project key and hour of receipt.
create table outcomes_hourly (
  project_id uuid not null,
  key_id uuid not null,
  hour timestamptz not null,
  category text not null,
  outcome text not null check (outcome in ('accepted', 'filtered', 'rate_limited', 'invalid', 'duplicate', 'discarded', 'dropped')),
  reason text not null,
  quantity bigint not null,
  primary key (project_id, key_id, hour, category, outcome, reason)
);
-- The intake page reads a project's hours across keys.
create index outcomes_hourly_by_hour on outcomes_hourly (project_id, hour);

-- What SDKs report as lost before it reached the intake, by hour of receipt.
create table client_losses_hourly (
  project_id uuid not null,
  hour timestamptz not null,
  -- The list of the client report: discarded by the SDK, or limited or filtered by a relay in between.
  kind text not null check (kind in ('discarded', 'rate_limited', 'filtered', 'filtered_sampling')),
  reason text not null,
  category text not null,
  quantity bigint not null,
  primary key (project_id, hour, kind, reason, category)
);

-- Items counted against orgs.events_per_day, written by the intake every second. No foreign key: the intake does not know
-- whether the organisation was deleted meanwhile.
create table org_usage_daily (
  org_id uuid not null,
  day date not null,
  events bigint not null,
  primary key (org_id, day)
);

-- Hours in which a key was over its limit for errors and flood sampling accepted events with new fingerprints.
create table flood_sampling_hourly (
  project_id uuid not null,
  key_id uuid not null,
  hour timestamptz not null,
  -- Events accepted, and their distinct fingerprints.
  let_through bigint not null,
  fingerprints bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (project_id, key_id, hour)
);

-- Texts that scrubbing replaced unsearched because a custom expression costs too much, by hour of receipt. A rule is named
-- by what it says: its place in the list changes with the settings.
create table costly_rules_hourly (
  project_id uuid not null,
  hour timestamptz not null,
  path text not null,
  regex text not null,
  requests bigint not null,
  texts bigint not null,
  last_at timestamptz not null,
  primary key (project_id, hour, path, regex)
);
