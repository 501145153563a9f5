-- Alert rules, their actions, and the alerts that fired. Deliveries are in the outbox.

create table alert_rules (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  project_id uuid not null references project_ids,
  name text not null,
  trigger_type text not null,
  -- Complete, with the defaults of the trigger.
  conditions jsonb not null,
  enabled boolean not null,
  cooldown_minutes integer not null,
  -- Null: its alerts do not escalate.
  escalate_after_minutes integer,
  -- Its alerts are resolved with their issue.
  close_with_issue boolean not null,
  created_by uuid references users on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_fired_at timestamptz,
  -- The last minute for which its condition was evaluated: one worker does it.
  evaluated_minute timestamptz,
  -- Alerts of the minute in which it fired last.
  fired_minute timestamptz,
  fired_in_minute integer not null default 0,
  -- It is removed when its last messages are sent.
  deleted_at timestamptz
);
create index alert_rules_by_org on alert_rules (org_id, created_at, id) where deleted_at is null;
create index alert_rules_by_project on alert_rules (project_id, trigger_type) where enabled;
create index alert_rules_deleted on alert_rules (deleted_at) where deleted_at is not null;
create index alert_rules_by_trigger on alert_rules (trigger_type) where enabled;

-- What a rule does. The id is also that of the outbox lane; mails and the canary use others.
create table alert_actions (
  id uuid primary key,
  rule_id uuid not null references alert_rules on delete cascade,
  org_id uuid not null references orgs on delete cascade,
  position integer not null,
  is_escalation boolean not null,
  type text not null,
  -- Of email: "team", "assignee" or addresses.
  recipients jsonb,
  -- URL, secret or routing key, sealed; null for email.
  config_sealed text,
  -- What may be shown of the URL, routing key and secret.
  masked jsonb not null default '{}',
  -- Of the newest attempt.
  last_status integer,
  last_attempt_at timestamptz,
  last_ok boolean
);
create index alert_actions_by_rule on alert_actions (rule_id, is_escalation, position);
create index alert_actions_by_org on alert_actions (org_id);

-- When a rule last fired about a subject: an issue, a journey, or '' for its project. One upsert is the gate of the
-- cool-down for all workers.
create table alert_subjects (
  rule_id uuid not null references alert_rules on delete cascade,
  subject text not null,
  last_fired_at timestamptz not null,
  primary key (rule_id, subject)
);
create index alert_subjects_by_age on alert_subjects (last_fired_at);

create table fired_alerts (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  project_id uuid not null references project_ids,
  -- The rule may be deleted: its name stays.
  rule_id uuid not null,
  rule_name text not null,
  close_with_issue boolean not null,
  issue_id uuid,
  subject text not null,
  -- What made it fire: a fact, or a minute. A rule fires once for each.
  cause text not null,
  trigger_type text not null,
  title text not null,
  severity text not null,
  value double precision,
  unit text,
  threshold double precision,
  window_minutes integer,
  explanation text not null,
  state text not null check (state in ('firing', 'acknowledged', 'resolved', 'expired')),
  fired_at timestamptz not null,
  -- When its condition last held.
  held_at timestamptz not null,
  acknowledged_by uuid references users on delete set null,
  acknowledged_at timestamptz,
  resolved_at timestamptz,
  resolved_reason text,
  -- When it escalates unless it is acknowledged; null once it has, or when it does not.
  escalates_at timestamptz,
  escalated_at timestamptz,
  -- The minute whose summary stands for it; null when it was sent itself.
  summary_minute timestamptz,
  unique (rule_id, subject, cause)
);
create index fired_alerts_by_org on fired_alerts (org_id, fired_at desc, id desc);
create index fired_alerts_by_project on fired_alerts (project_id, fired_at desc, id desc);
create index fired_alerts_by_rule on fired_alerts (rule_id, fired_at desc, id desc);
create index fired_alerts_by_issue on fired_alerts (issue_id, fired_at desc, id desc) where issue_id is not null;
create index fired_alerts_open on fired_alerts (rule_id, subject) where state in ('firing', 'acknowledged');
create index fired_alerts_firing on fired_alerts (org_id, fired_at) where state = 'firing';
create index fired_alerts_held on fired_alerts (held_at) where state in ('firing', 'acknowledged');
create index fired_alerts_escalating on fired_alerts (escalates_at) where escalates_at is not null;
create index fired_alerts_by_age on fired_alerts (fired_at);

-- Which deliveries an alert caused, and what was not sent with the reason.
create table alert_deliveries (
  alert_id uuid not null references fired_alerts on delete cascade,
  n integer not null generated always as identity,
  -- Null for pushes.
  action_id uuid,
  action_type text not null,
  target text not null,
  purpose text not null,
  -- Null when nothing was sent; the log of the outbox may be shorter.
  delivery_id text collate "C",
  skipped text,
  created_at timestamptz not null,
  primary key (alert_id, n)
);
create index alert_deliveries_by_delivery on alert_deliveries (delivery_id);

-- Summaries that are due: alerts of a rule and minute beyond those sent one by one.
create table alert_summaries (
  rule_id uuid not null references alert_rules on delete cascade,
  minute timestamptz not null,
  primary key (rule_id, minute)
);

-- Events of issues per minute of their own time, only of projects with a rule for spikes; kept for a day.
create table alert_issue_minutes (
  project_id uuid not null,
  issue_id uuid not null,
  minute timestamptz not null,
  events integer not null,
  primary key (issue_id, minute)
) with (fillfactor = 80);
create index alert_issue_minutes_by_project on alert_issue_minutes (project_id, minute);
create index alert_issue_minutes_by_age on alert_issue_minutes (minute);
