-- Stored events. Partitioned by the day of receipt; storage/day-partitions.ts makes the partitions and sets their storage
-- parameters; retention drops whole days.

create table events (
  received_day date not null,
  project_id uuid not null,
  event_id uuid not null,
  issue_id uuid not null,
  received_at timestamptz not null,
  occurred_at timestamptz not null,
  sent_at timestamptz,
  level text not null,
  release text,
  environment text not null,
  client_ip text,
  user_agent text,
  -- The same keyed hash as in issue_users.
  user_hash bigint,
  -- 0 none, 1 gzip, 2 deflate, 3 br, 4 zstd
  body_encoding smallint not null,
  -- Where the event's JSON lies in the decoded body or block.
  body_start integer not null,
  body_end integer not null,
  -- Exactly one of body and block_id is set.
  body bytea,
  block_id bigint
) partition by range (received_day);
-- Bodies arrive compressed.
alter table events alter column body set storage external;
-- Unique per day. Digestion looks for duplicates in the last 7 days before it writes.
create unique index events_by_id on events (project_id, event_id, received_day);
create index events_by_issue on events (issue_id, occurred_at, event_id);

-- Bodies of many events of a day, compressed together: by digestion, of one batch, and by the job that packs closed days
-- (server/events/pack-day.ts).
create table event_blocks (
  received_day date not null,
  block_id bigint not null,
  -- JSON of the events, concatenated, zstd.
  body bytea not null,
  primary key (received_day, block_id)
) partition by range (received_day);
alter table event_blocks alter column body set storage external;
create sequence event_block_ids;

-- Progress of packing a day, so that it resumes after an interruption.
create table event_packings (
  received_day date primary key,
  -- copying: rows and blocks are being copied into new tables; done: these have replaced the day's partitions.
  stage text not null check (stage in ('copying', 'done')),
  -- The files of the day's table and of its copy. When they change, copying starts again, because places change with them.
  files text not null default '',
  -- The place (ctid) up to which rows were copied.
  copied_to text not null default '(0,0)',
  packed bigint not null default 0,
  started_at timestamptz not null,
  finished_at timestamptz
);

-- Rows of a day that were inserted, updated or deleted while it is being packed. Packing puts a trigger on that day.
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
