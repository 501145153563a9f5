-- Files that came with events, and raw profiles and replays. A file belongs to an event by project and event id, whether
-- that event came before, with or after it. One partition per received day, like events.
create table attachments (
  received_day date not null,
  id uuid not null,
  project_id uuid not null,
  event_id uuid not null,
  received_at timestamptz not null,
  -- Cleaned: never a path.
  filename text not null,
  -- As the client claims, cleaned; what is served follows from the content.
  content_type text not null,
  attachment_type text not null,
  size_bytes bigint not null,
  sha256 bytea not null
) partition by range (received_day);
create unique index attachments_by_id on attachments (id, received_day);
create index attachments_by_event on attachments (project_id, event_id);

-- Content in pieces of at most 1 MiB, so that reading a large file never needs all of it in memory.
create table attachment_chunks (
  received_day date not null,
  attachment_id uuid not null,
  seq integer not null,
  -- 0 none, 4 zstd
  encoding smallint not null,
  bytes bytea not null
) partition by range (received_day);
-- Packed before it is written, where that helps.
alter table attachment_chunks alter column bytes set storage external;
create unique index attachment_chunks_by_place on attachment_chunks (attachment_id, seq, received_day);

-- What users of the apps wrote: feedback items and the older user reports.
create table feedback (
  id uuid primary key,
  project_id uuid not null,
  -- The client's own id of a feedback item; made from the content for user reports, which have none.
  feedback_id uuid not null,
  received_at timestamptz not null,
  -- The event it is about; that may come later, or never.
  event_id uuid,
  -- Set once that event is known. Feedback goes with its issue.
  issue_id uuid references issues on delete cascade,
  message text not null,
  name text,
  email text,
  url text,
  source text,
  replay_id uuid,
  release text,
  environment text,
  -- The same keyed hash as in issue_users.
  user_hash bigint
);
create unique index feedback_by_client_id on feedback (project_id, feedback_id);
create index feedback_by_project on feedback (project_id, received_at, id);
create index feedback_by_issue on feedback (issue_id, received_at, id);
-- Looked at with every batch of events, so it holds only what still waits.
create index feedback_waiting on feedback (project_id, event_id) where issue_id is null and event_id is not null;
