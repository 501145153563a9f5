-- Bodies of packed days in object storage: a segment is an object with many blocks (server/events/store/move-blocks.ts).

alter table event_blocks alter column body drop not null;
-- Where the body is instead: its segment, and its bytes there.
alter table event_blocks add column segment_id uuid;
alter table event_blocks add column segment_start integer;
alter table event_blocks add column segment_end integer;

-- When the bodies of the day's blocks were moved.
alter table event_packings add column moved_at timestamptz;

create table event_segments (
  id uuid primary key,
  received_day date not null,
  -- Digest of the whole object.
  sha256 text not null,
  byte_count integer not null,
  -- writing: no block refers to it yet; stored: blocks do; garbage: none does any more, and its object is deleted.
  state text not null check (state in ('writing', 'stored', 'garbage')),
  changed_at timestamptz not null
);
create index event_segments_by_day on event_segments (received_day);
create index event_segments_unused on event_segments (changed_at) where state <> 'stored';

-- Parts of blocks in segments whose events are deleted: the segment is written again without them.
create table event_segment_removals (
  id uuid primary key,
  received_day date not null,
  block_id bigint not null,
  part_start integer not null,
  part_end integer not null
);
create index event_segment_removals_by_block on event_segment_removals (received_day, block_id);
