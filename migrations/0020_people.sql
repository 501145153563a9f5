-- People and issues: who is told what, who owns what.

-- A word an ownership rule names where no member is meant: a team, a channel, a rota.
alter table issues add column owner_team text;

-- Members named in comments, as they were written.
create table comment_mentions (
  comment_id uuid not null references comments on delete cascade,
  written text not null,
  user_id uuid not null references users on delete cascade,
  primary key (comment_id, written)
);
create index comment_mentions_by_user on comment_mentions (user_id);

-- Who follows an issue, and why. A row stays when somebody stops: nothing but their own hand subscribes them again.
create table issue_subscriptions (
  issue_id uuid not null references issues on delete cascade,
  user_id uuid not null references users on delete cascade,
  reason text not null check (reason in ('manual', 'assigned', 'mentioned', 'commented', 'changed')),
  is_subscribed boolean not null,
  changed_at timestamptz not null,
  primary key (issue_id, user_id)
);
create index issue_subscriptions_by_user on issue_subscriptions (user_id);

-- News for one person each, written with the fact they tell of.
create table inbox_entries (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  user_id uuid not null references users on delete cascade,
  issue_id uuid not null references issues on delete cascade,
  kind text not null check (kind in ('assigned', 'mentioned', 'commented', 'regressed', 'escalated')),
  actor_id uuid references users on delete set null,
  comment_id uuid references comments on delete cascade,
  sentence text not null,
  created_at timestamptz not null,
  read_at timestamptz
);
create index inbox_entries_by_user on inbox_entries (user_id, ((read_at is null)) desc, created_at desc, id desc);
create index inbox_entries_unread on inbox_entries (user_id) where read_at is null;
create index inbox_entries_by_issue on inbox_entries (issue_id);
-- A comment tells a person once, however often it is edited.
create unique index inbox_entries_of_comment on inbox_entries (comment_id, user_id, kind) where comment_id is not null;
create index inbox_entries_by_time on inbox_entries using brin (created_at);
create index inbox_entries_by_actor on inbox_entries (actor_id) where actor_id is not null;
