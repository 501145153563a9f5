-- no transaction

-- Lists and counts of the inbox.
create index concurrently if not exists feedback_by_status on feedback (project_id, status, received_at, id);
create index concurrently if not exists feedback_unread on feedback (project_id) where read_at is null and status = 'open';
create index concurrently if not exists feedback_by_assignee on feedback (assignee_id, received_at, id) where assignee_id is not null;
-- Who waits for the resolution of an issue.
create index concurrently if not exists feedback_to_notify on feedback (issue_id) where notify_on_resolved and notified_at is null;

-- In its own transaction: it reads the table while others write.
alter table feedback validate constraint feedback_status_check;
alter table feedback validate constraint feedback_assignee_id_fkey;
