-- Feedback of the apps' users: feedback items and the older user reports.

create table feedback (
  id uuid primary key,
  project_id uuid not null,
  -- The client's id of a feedback item. User reports have none: theirs is derived from the content.
  feedback_id uuid not null,
  received_at timestamptz not null,
  -- The event it is about, which may arrive later or never.
  event_id uuid,
  -- Set once that event is known. Feedback is deleted with its issue.
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
-- Every batch of events reads this index, so it holds only feedback that still waits for its event.
create index feedback_waiting on feedback (project_id, event_id) where issue_id is null and event_id is not null;
