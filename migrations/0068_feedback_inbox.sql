-- The inbox of feedback: how a message stands, who takes care of it, and what members did and wrote about it.

alter table feedback add column status text not null default 'open';
alter table feedback add constraint feedback_status_check check (status in ('open', 'resolved', 'spam')) not valid;
-- A member of the organisation of the project; a user who left it is not shown.
alter table feedback add column assignee_id uuid;
alter table feedback add constraint feedback_assignee_id_fkey
  foreign key (assignee_id) references users on delete set null not valid;
-- When a member read it first.
alter table feedback add column read_at timestamptz;
-- The app and its user, as the app described them: browser, os, device, language, user, transaction, trace_id.
alter table feedback add column context jsonb;
-- The author gets one mail when the linked issue is resolved.
alter table feedback add column notify_on_resolved boolean not null default false;
alter table feedback add column notified_at timestamptz;

create table feedback_activity (
  id uuid primary key,
  message_id uuid not null references feedback on delete cascade,
  kind text not null check (kind in ('status_changed', 'assigned', 'note', 'reply', 'notified', 'not_notified')),
  -- Null for Faultline itself, and for a user who was deleted.
  actor_id uuid references users on delete set null,
  -- The text of a note or a reply.
  body text,
  data jsonb not null default '{}',
  created_at timestamptz not null
);
create index feedback_activity_by_message on feedback_activity (message_id, id);
-- Users are deleted with their references.
create index feedback_activity_by_actor on feedback_activity (actor_id) where actor_id is not null;
