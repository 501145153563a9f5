-- contract: the index is made on the parent only, which has no rows: partitions created from now on get it at once

-- Log entries by minute and level, so that volume is read without reading entries.
create table log_counts (
  project_id uuid not null,
  -- The minute in which the entries occurred.
  minute timestamptz not null,
  -- Entries disappear with the day of their receipt.
  received_day date not null,
  level text not null,
  entries bigint not null,
  primary key (project_id, minute, received_day, level)
) with (fillfactor = 70);

-- Warnings and failures among many other entries. Days that exist already keep their indexes.
create index logs_by_warning on only logs (project_id, occurred_at, id) include (level, received_day)
  where level in ('warn', 'error', 'fatal');
