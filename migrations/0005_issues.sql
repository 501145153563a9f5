-- Issues: what they are, what they count, and their activity.

create table issues (
  id uuid primary key,
  org_id uuid not null,
  project_id uuid not null references project_ids,
  number integer not null,
  title text not null,
  culprit text not null,
  error_type text,
  error_value text,
  level text not null,
  platform text not null,
  status text not null check (status in ('unresolved', 'resolved', 'ignored', 'regressed', 'escalated')),
  status_reason text,
  status_changed_at timestamptz not null,
  resolved_at timestamptz,
  resolved_in_release text,
  ignore_until jsonb,
  severity smallint not null check (severity between 0 and 3), -- 3 critical, 2 high, 1 medium, 0 low
  severity_pinned boolean not null default false,
  assignee_id uuid,
  -- The team, channel or rota that an ownership rule names instead of a member.
  assignee_team text,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  event_count bigint not null default 0,
  user_count bigint not null default 0,
  first_release text,
  last_release text,
  is_unhandled boolean not null,
  -- The event that title, culprit and level are taken from.
  last_event_id uuid,
  created_at timestamptz not null,

  -- Life cycle (server/issue-rules/life-cycle.ts). While resolved: what fixes the issue, whether it was resolved
  -- automatically, how many events arrived late.
  resolution jsonb,
  -- The commit that fixes it, while no release with that commit is known.
  pending_commit text,
  -- While ignored: since when, and what was counted towards the condition in ignore_until.
  ignore_progress jsonb,
  -- When an ignored issue is reopened by time.
  unignore_at timestamptz,
  -- Since when the issue is open without interruption; auto-resolve counts from here.
  open_since timestamptz not null default now(),
  -- The last automatic escalation, and the last hour above the limit.
  escalated_at timestamptz,
  over_limit_at timestamptz,
  -- The limit of events per hour, and the hour it was computed for.
  hourly_limit integer,
  limit_hour timestamptz,
  -- The worst event so far: 3 crash, 2 handled error, 1 warning, 0 anything else.
  event_severity smallint not null default 0,
  -- Distinct users of one UTC day, and the last day on which they were many.
  users_day date,
  users_today integer not null default 0,
  high_impact_day date,

  -- The issue that a member merged this one into. It may be merged itself: issue_groups.issue_id says which issue shows
  -- this one.
  merged_into uuid references issues on delete cascade,
  -- Number of groups that the issue shows besides its own.
  merged_count integer not null default 0,

  -- Coarse sort keys: last seen in steps of 5 seconds; counts exact below 8, then in four steps per doubling. Indexes
  -- hold these instead of values that change with every batch, so that most updates touch no index. The order inside a
  -- step comes from the row. sort-keys.ts repeats the expressions.
  seen_slot timestamptz not null generated always as
    (date_bin(interval '5 seconds', last_seen, timestamptz '1970-01-01 00:00:00+00')) stored,
  events_rank smallint not null generated always as
    ((case when event_count < 8 then event_count else floor(ln(event_count::double precision) * 5.7707801635558535 - 4) end)::smallint) stored,
  users_rank smallint not null generated always as
    ((case when user_count < 8 then user_count else floor(ln(user_count::double precision) * 5.7707801635558535 - 4) end)::smallint) stored,

  unique (project_id, number),
  -- Only a member of the organisation can be assigned.
  foreign key (assignee_id, org_id) references memberships on delete set null (assignee_id)
  -- Counts and times change with every batch: the free space takes the new row version on the same page.
) with (fillfactor = 80);

-- The list of an organisation. The included columns answer most filters without reading the row.
create index issues_by_org_seen on issues (org_id, seen_slot)
  include (id, project_id, status, severity, level, platform, is_unhandled, assignee_id, merged_into);
create index issues_by_org_status on issues (org_id, status, seen_slot) include (merged_into);
create index issues_by_org_first_seen on issues (org_id, first_seen, id);
create index issues_by_org_events on issues (org_id, events_rank);
create index issues_by_org_users on issues (org_id, users_rank);
create index issues_by_org_severity on issues (org_id, severity, id);
-- The list of one assignee, with the same included columns. They change only with columns of other indexes, so that
-- this index adds no writes.
create index issues_by_assignee on issues (assignee_id, seen_slot)
  include (id, org_id, project_id, status, severity, level, platform, is_unhandled, merged_into)
  where assignee_id is not null;
-- The list of one project.
create index issues_by_project_seen on issues (project_id, seen_slot);
create index issues_by_project_status on issues (project_id, status, seen_slot) include (merged_into);
create index issues_by_project_first_seen on issues (project_id, first_seen, id);
create index issues_by_project_events on issues (project_id, events_rank);
create index issues_by_project_users on issues (project_id, users_rank);
create index issues_by_project_severity on issues (project_id, severity, id);
-- New and fixed issues of a release.
create index issues_by_first_release on issues (project_id, first_release) where first_release is not null;
create index issues_by_fix on issues (project_id, resolved_in_release) where resolved_in_release is not null;
-- What the scheduled sweeps look for.
create index issues_by_unignore on issues (unignore_at) where unignore_at is not null;
create index issues_by_pending_commit on issues (project_id, pending_commit) where pending_commit is not null;
create index issues_escalated on issues (over_limit_at) where status = 'escalated';
create index issues_by_high_impact_day on issues (high_impact_day) where high_impact_day is not null;
create index issues_by_merged_into on issues (merged_into) where merged_into is not null;

-- Groups own the counts, and an issue shows the sum of its groups. An issue is created with one group of the same id;
-- its events are stored under that id. Merging moves the pointer issue_id.
create table issue_groups (
  id uuid primary key references issues on delete cascade,
  -- The issue that shows the group.
  issue_id uuid not null references issues on delete cascade,
  event_count bigint not null default 0,
  user_count bigint not null default 0,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  first_release text,
  last_release text,
  -- Of the newest event.
  title text not null,
  culprit text not null,
  error_type text,
  error_value text,
  level text not null,
  last_event_id uuid,
  is_unhandled boolean not null,
  event_severity smallint not null default 0,

  -- While its issue is merged into another: when and by whom.
  merged_at timestamptz,
  merged_by uuid references users on delete set null,
  -- While its issue is merged, or shows other groups too: what it had alone.
  users_day date,
  high_impact_day date
) with (fillfactor = 80);
create index issue_groups_by_issue on issue_groups (issue_id);

-- Which events belong to which group. Several fingerprints may belong to one group.
create table issue_fingerprints (
  project_id uuid not null,
  hash bytea not null,
  group_id uuid not null references issue_groups on delete cascade,
  grouping_version smallint not null,
  parts jsonb not null,
  created_at timestamptz not null,
  primary key (project_id, hash)
);
create index issue_fingerprints_by_group on issue_fingerprints (group_id);

-- A number per project that rises with each change of the relation of fingerprints, groups and issues: merging,
-- unmerging, deleting, discarding. Digestion remembers that relation, and holds a shared lock of this row while it records.
create table issue_generations (
  project_id uuid primary key references project_ids,
  generation bigint not null default 0
);

-- What recorded events add to their groups and is not counted yet. Each batch of digestion appends a row; the next fold
-- of its shard adds the sums to groups and issues and deletes the rows.
create table issue_journal (
  id bigint generated always as identity primary key,
  shard smallint not null,
  body text not null
);
alter table issue_journal alter column body set storage external;

-- Error events per group and hour in which they occurred, and which of them were fatal or unhandled. The columns with
-- a number are the first three quarters of the hour; the rest is the fourth.
create table issue_hours (
  group_id uuid not null,
  hour timestamptz not null,
  events integer not null,
  events_1 integer not null default 0,
  events_2 integer not null default 0,
  events_3 integer not null default 0,
  fatal integer not null default 0,
  fatal_1 integer not null default 0,
  fatal_2 integer not null default 0,
  fatal_3 integer not null default 0,
  primary key (group_id, hour)
);
-- Retention finds old hours by time alone; rows arrive nearly in order.
create index issue_hours_by_hour on issue_hours using brin (hour);

-- Error events per project and minute in which they occurred.
create table project_minutes (
  project_id uuid not null,
  minute timestamptz not null,
  events integer not null,
  fatal integer not null,
  primary key (project_id, minute)
);
create index project_minutes_by_minute on project_minutes using brin (minute);

-- Distinct users of a group, as a keyed hash of the user's id.
create table issue_users (
  group_id uuid not null,
  user_hash bigint not null,
  -- The last slot in which the user was seen: quarters of an hour since 1970; 0 for unknown.
  seen_slot integer not null default 0,
  primary key (group_id, user_hash)
  -- The slot changes often; the free space takes the new row version on the same page.
) with (fillfactor = 90);
-- All groups of one user.
create index issue_users_by_user on issue_users (user_hash);

-- How many users of a group were seen in a slot, by the slot in which each was seen before (0 for never). The distinct users
-- of a time are those seen in it and not seen in it before: docs/decisions/issue-ranges.md.
create table issue_user_slots (
  group_id uuid not null,
  slot integer not null,
  before_slot integer not null,
  users integer not null,
  primary key (group_id, slot, before_slot)
);
-- Retention finds old slots by time alone; rows arrive nearly in order.
create index issue_user_slots_by_slot on issue_user_slots using brin (slot);

create table issue_activity (
  id uuid primary key,
  issue_id uuid not null references issues on delete cascade,
  kind text not null,
  actor_id uuid references users on delete set null,
  sentence text not null,
  data jsonb not null default '{}',
  created_at timestamptz not null
);
create index issue_activity_by_issue on issue_activity (issue_id, created_at, id);
-- Issues that regressed in a release.
create index issue_activity_by_regression on issue_activity ((data ->> 'release'), issue_id)
  where kind = 'status_changed' and data ->> 'to' = 'regressed';
