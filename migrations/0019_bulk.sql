-- Changes of many issues at once (server/issues/bulk/): what was asked, how far it has come, what became of each.
create table bulk_operations (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  actor_id uuid not null references users on delete cascade,
  kind text not null check (kind in ('change', 'delete', 'undo')),
  -- As it came in, to tell a repetition from another request under the same id.
  request jsonb not null,
  -- The operation this one takes back.
  undoes uuid unique references bulk_operations on delete cascade,
  state text not null check (state in ('running', 'done')),
  total integer not null,
  changed integer not null default 0,
  unchanged integer not null default 0,
  failed integer not null default 0,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index bulk_operations_by_time on bulk_operations (created_at);

create table bulk_operation_issues (
  operation_id uuid not null references bulk_operations on delete cascade,
  position integer not null,
  -- As asked for; it may be nobody's.
  issue_id uuid not null,
  -- Null until its turn.
  result text check (result in ('changed', 'unchanged', 'failed')),
  error text,
  -- What a change replaced, and what it left behind: Undo puts the first back only over the second.
  before jsonb,
  after jsonb,
  primary key (operation_id, position)
);
