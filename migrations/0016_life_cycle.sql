-- How an issue moves by itself (server/issues/life-cycle.ts), and how severe it is.
alter table issues
  -- While resolved: what fixes it, whether nobody did it by hand, events counted as late. Shape: life-cycle.columns.ts.
  add column resolution jsonb,
  -- The commit it waits for: no release with it is known yet.
  add column pending_commit text,
  -- While ignored: since when, and what was counted towards its condition.
  add column ignore_progress jsonb,
  -- When an ignored issue wakes by time.
  add column wake_at timestamptz,
  -- Since when it is open without interruption, or when a person last said that it is: auto-resolve counts from here.
  add column open_since timestamptz,
  -- Newest escalation by the rule, and the newest hour beyond the limit.
  add column spiked_at timestamptz,
  add column over_limit_at timestamptz,
  -- Most events an hour may have, and the hour it was worked out for.
  add column hourly_limit integer,
  add column limit_hour timestamptz,
  -- Worst kind of event so far: 3 crash, 2 handled error, 1 warning, 0 anything else.
  add column gravity smallint not null default 0,
  -- Distinct users of a UTC day, and the newest day on which they were many.
  add column users_day date,
  add column users_today integer not null default 0,
  add column wide_day date;

update issues set
  open_since = status_changed_at,
  gravity = case when severity >= 2 or (is_unhandled and level in ('fatal', 'error')) then 3
                 when level in ('fatal', 'error') then 2
                 when level = 'warning' then 1
                 else 0 end,
  resolution = case when status = 'resolved' then '{"kind": "now", "automatic": false, "late": null}'::jsonb end,
  ignore_progress = case when status = 'ignored' then jsonb_build_object('at', status_changed_at, 'events', 0, 'users', 0, 'window', '[]'::jsonb) end;
alter table issues alter column open_since set not null, alter column open_since set default now();

create index issues_by_wake on issues (wake_at) where wake_at is not null;
create index issues_by_pending_commit on issues (project_id, pending_commit) where pending_commit is not null;
create index issues_escalated on issues (over_limit_at) where status = 'escalated';
create index issues_by_wide_day on issues (wide_day) where wide_day is not null;

-- The newest day a user was counted on, so that a day's users are counted once each.
alter table issue_users add column seen_day date;

-- Old hours and minutes are found by time alone; they come nearly in order.
create index issue_hours_by_hour on issue_hours using brin (hour);
create index project_minutes_by_minute on project_minutes using brin (minute);
