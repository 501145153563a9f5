-- Search of issues.

-- One document per issue: words of its events, and facts as key and value. Separate from issues, which changes with every
-- batch.
create table issue_search (
  issue_id uuid primary key references issues on delete cascade,
  document tsvector not null,
  -- Since when the document has to be rebuilt from stored events; null means it is complete.
  stale_since timestamptz,
  -- Makes every row longer than 2 kB before compression (40 bytes after it): PostgreSQL moves values out of line only
  -- then. With documents out of line, 80 rows share a page instead of two to five.
  filler text not null generated always as (repeat(' ', 2100)) stored,
  -- The document before other issues were merged into this one. Restored when they are unmerged.
  own_document tsvector
) with (toast_tuple_target = 128);
-- Every search reads the whole pending list of the index, so it is kept short.
create index issue_search_by_document on issue_search using gin (document) with (gin_pending_list_limit = 512);
create index issue_search_stale on issue_search (stale_since) where stale_since is not null;
alter table issue_search alter column document set storage external;
alter table issue_search alter column filler set storage main;
alter table issue_search alter column document set statistics 1000;

-- Index terms that digestion saw for the first time in an issue. A job adds them to the document a moment later.
create table issue_new_terms (
  id bigint generated always as identity primary key,
  issue_id uuid not null,
  -- Separated by U+001E.
  terms text not null
);

-- What events said about a user of an app: e-mail address, user name, IP address. Searches by these find the user, and
-- through issue_users the issues. Once per user and value, so that it costs nothing per issue.
create table user_identities (
  -- Without a foreign key, whose check costs more than the row: a job deletes what deleted projects leave.
  project_id uuid not null,
  -- The same keyed hash as in issue_users.
  user_hash bigint not null,
  -- The day an event last said it, a week late at most.
  seen_day date not null,
  -- user.email, user.username or user.ip
  key text not null,
  -- Folded and cut as search terms are. Compared by bytes, so that the index finds values that begin with a text.
  value text collate "C" not null,
  primary key (project_id, key, value, user_hash)
) with (fillfactor = 90);
