-- Events of closed days: their bodies move into blocks of many, compressed together (server/events/pack-day.ts).
-- Exactly one of body and block_id is there; body_start and body_end then count within the decoded block.
alter table events alter column body drop not null, add column block_id bigint;

create table event_blocks (
  received_day date not null,
  block_id bigint not null,
  -- JSON of events one after the other, zstd.
  body bytea not null,
  primary key (received_day, block_id)
) partition by range (received_day);
alter table event_blocks alter column body set storage external;

-- How far the packing of a day has come, so that it goes on where it was cut off.
create table event_packings (
  received_day date primary key,
  -- copying: rows are copied into a table beside the day's; done: that table has taken its place.
  stage text not null check (stage in ('copying', 'done')),
  -- The last row copied, in the order of the index by issue.
  issue_id uuid not null default '00000000-0000-0000-0000-000000000000',
  occurred_at timestamptz not null default '-infinity',
  event_id uuid not null default '00000000-0000-0000-0000-000000000000',
  next_block_id bigint not null default 1,
  packed bigint not null default 0,
  started_at timestamptz not null,
  finished_at timestamptz
);

-- Rows of a day that were written, changed or deleted while it is being packed; kept by a trigger on that day alone.
create table event_packing_changes (
  received_day date not null,
  project_id uuid not null,
  event_id uuid not null
);
create index event_packing_changes_by_day on event_packing_changes (received_day);

create function note_event_change() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into event_packing_changes values (old.received_day, old.project_id, old.event_id);
  end if;
  if tg_op <> 'DELETE' then
    insert into event_packing_changes values (new.received_day, new.project_id, new.event_id);
  end if;
  return null;
end $$;
