-- Comments, mentions, subscriptions and notifications.

create table comments (
  id uuid primary key,
  issue_id uuid not null references issues on delete cascade,
  author_id uuid references users on delete set null,
  body text not null,
  created_at timestamptz not null,
  edited_at timestamptz
);
create index comments_by_issue on comments (issue_id, created_at, id);

-- Members mentioned in a comment, with the text that mentions them.
create table comment_mentions (
  comment_id uuid not null references comments on delete cascade,
  written text not null,
  user_id uuid not null references users on delete cascade,
  primary key (comment_id, written)
);
create index comment_mentions_by_user on comment_mentions (user_id);

-- Members who follow an issue, and why. The row stays after unsubscribing: only the member subscribes again, no rule does.
create table issue_subscriptions (
  issue_id uuid not null references issues on delete cascade,
  user_id uuid not null references users on delete cascade,
  reason text not null check (reason in ('manual', 'assigned', 'mentioned', 'commented', 'changed')),
  is_subscribed boolean not null,
  changed_at timestamptz not null,
  primary key (issue_id, user_id)
);
create index issue_subscriptions_by_user on issue_subscriptions (user_id);

-- Notifications, one row per member, written in the transaction of the change they report.
create table inbox_entries (
  id uuid primary key,
  org_id uuid not null,
  user_id uuid not null,
  issue_id uuid not null references issues on delete cascade,
  kind text not null check (kind in ('assigned', 'mentioned', 'commented', 'regressed', 'escalated', 'reopened')),
  actor_id uuid references users on delete set null,
  comment_id uuid references comments on delete cascade,
  sentence text not null,
  created_at timestamptz not null,
  read_at timestamptz,
  foreign key (user_id, org_id) references memberships on delete cascade
);
create index inbox_entries_by_member on inbox_entries (user_id, org_id, ((read_at is null)) desc, created_at desc, id desc);
create index inbox_entries_unread on inbox_entries (user_id, org_id) where read_at is null;
create index inbox_entries_by_issue on inbox_entries (issue_id);
-- A comment notifies a member once, however often it is edited.
create unique index inbox_entries_of_comment on inbox_entries (comment_id, user_id, kind) where comment_id is not null;
create index inbox_entries_by_time on inbox_entries using brin (created_at);
create index inbox_entries_by_actor on inbox_entries (actor_id) where actor_id is not null;
