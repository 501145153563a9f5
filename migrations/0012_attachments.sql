-- Files that came with events, and raw profiles and replays. A file belongs to an event by project and event id, whether
-- that event arrives before it, with it or after it. Partitioned by the day of receipt, like events.

create table attachments (
  received_day date not null,
  id uuid not null,
  project_id uuid not null,
  event_id uuid not null,
  received_at timestamptz not null,
  -- Sanitised: never a path.
  filename text not null,
  -- The client's claim, sanitised. The type that is served is derived from the content.
  content_type text not null,
  attachment_type text not null,
  size_bytes bigint not null,
  sha256 bytea not null
) partition by range (received_day);
create unique index attachments_by_id on attachments (id, received_day);
create index attachments_by_event on attachments (project_id, event_id);

-- Content in chunks of at most 1 MiB: reading a large file never needs all of it in memory.
create table attachment_chunks (
  received_day date not null,
  attachment_id uuid not null,
  seq integer not null,
  -- 0 none, 4 zstd
  encoding smallint not null,
  bytes bytea not null
) partition by range (received_day);
-- Compressed before it is written, where that saves space.
alter table attachment_chunks alter column bytes set storage external;
create unique index attachment_chunks_by_place on attachment_chunks (attachment_id, seq, received_day);
