-- Analyses of issues: the newest is shown. Those of a merged issue stay with it and return when it is unmerged.
create table issue_analyses (
  id uuid primary key,
  issue_id uuid not null references issues on delete cascade,
  org_id uuid not null,
  created_at timestamptz not null,
  -- Null: by Faultline itself, for a new critical issue or one that regressed.
  created_by uuid references users on delete set null,
  source text not null check (source in ('built_in', 'model')),
  model text,
  confidence text not null check (confidence in ('low', 'medium', 'high')),
  -- Cause, explanation, evidence, next step and suggested diff, as the API answers them.
  content jsonb not null,
  events_looked_at integer not null,
  tokens integer,
  -- The issue regressed since then.
  outdated_at timestamptz
);
create index issue_analyses_by_issue on issue_analyses (issue_id, created_at desc, id desc);
-- The bound per organisation and hour.
create index issue_analyses_by_org on issue_analyses (org_id, created_at) where created_by is null;

create table issue_analysis_feedback (
  analysis_id uuid not null references issue_analyses on delete cascade,
  user_id uuid not null references users on delete cascade,
  is_helpful boolean not null,
  at timestamptz not null,
  primary key (analysis_id, user_id)
);
create index issue_analysis_feedback_by_user on issue_analysis_feedback (user_id);

-- Issues that wait for an analysis by itself.
create table issue_analysis_requests (
  issue_id uuid primary key references issues on delete cascade,
  org_id uuid not null,
  -- Only a critical issue is analysed when it is new.
  reason text not null check (reason in ('new', 'regressed')),
  asked_at timestamptz not null
);
create index issue_analysis_requests_by_age on issue_analysis_requests (asked_at);
