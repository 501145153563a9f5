-- Background jobs. The queue itself (graphile-worker) has its own schema and migrations.

-- Processes that run jobs, and their last sign of life: the queue alone would keep the jobs of a killed process locked for
-- four hours.
create table job_workers (
  worker_id text primary key,
  seen_at timestamptz not null
);
