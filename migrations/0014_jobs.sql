-- Who works off jobs, and when they last said so: the queue itself would keep the jobs of a killed worker for four hours.
create table job_workers (
  worker_id text primary key,
  seen_at timestamptz not null
);
