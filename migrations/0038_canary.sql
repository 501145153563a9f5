-- The end-to-end test of alerts (server/canary/): its state, and its runs. All times are the database's.

create table canary (
  id integer primary key check (id = 1),
  -- The newest run.
  run_id uuid,
  state text not null default 'pending' check (state in ('pending', 'ok', 'late', 'broken')),
  failed_step text check (failed_step in ('intake', 'digestion', 'alert', 'delivery')),
  explanation text not null default '',
  -- No run followed this one in time: until another arrives, its arrival means nothing. The nil id stands for no run at all.
  missed_after uuid
);
insert into canary (id) values (1);

create table canary_runs (
  id uuid primary key,
  -- When it was sent last: it is sent again until the intake accepts it.
  started_at timestamptz not null,
  accepted_at timestamptz,
  -- Why the intake did not accept it.
  refusal text,
  arrived_at timestamptz,
  -- Its issue and alert are deleted.
  removed_at timestamptz
);
create index canary_runs_by_time on canary_runs (started_at);
