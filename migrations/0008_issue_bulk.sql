-- Changes of many issues at once: the request, its progress and the result of each issue.

create table bulk_operations (
  id uuid primary key,
  org_id uuid not null,
  -- The member who started it.
  actor_id uuid not null,
  kind text not null check (kind in ('change', 'delete', 'undo')),
  -- As received: tells a repeated request from another one with the same id.
  request jsonb not null,
  -- The operation that this one undoes.
  undoes uuid unique references bulk_operations on delete cascade,
  state text not null check (state in ('running', 'done')),
  total integer not null,
  changed integer not null default 0,
  unchanged integer not null default 0,
  failed integer not null default 0,
  created_at timestamptz not null,
  finished_at timestamptz,
  -- The fix of a resolution by project id, decided once for all issues of the operation.
  fixes jsonb not null default '{}',
  foreign key (actor_id, org_id) references memberships on delete cascade
);
create index bulk_operations_by_time on bulk_operations (created_at);

create table bulk_operation_issues (
  operation_id uuid not null references bulk_operations on delete cascade,
  position integer not null,
  -- As requested; the issue may not exist.
  issue_id uuid not null,
  -- Null until the issue is processed.
  result text check (result in ('changed', 'unchanged', 'failed')),
  error text,
  -- The values before and after the change. Undo restores the first only while the second are still current.
  before jsonb,
  after jsonb,
  primary key (operation_id, position)
);
create index bulk_operation_issues_by_issue on bulk_operation_issues (issue_id);
