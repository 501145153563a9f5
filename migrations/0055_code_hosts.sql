-- Connections to code hosts, what they sent, and what is known of their repositories (server/integrations/code-host/).

create table code_hosts (
  id uuid primary key,
  org_id uuid not null,
  project_id uuid not null unique,
  provider text not null check (provider in ('github', 'gitlab')),
  repository_url text not null,
  secret_sealed text not null,
  secret_at timestamptz not null,
  -- Null: only what the code host sends by itself is known.
  token_sealed text,
  default_branch text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The newest request whose signature was wrong, at most one per minute.
  refused_at timestamptz,
  sent_at timestamptz,
  sent text,
  error text,
  error_at timestamptz,
  -- Since then the code host refuses the token. Owners and admins got a mail.
  broken_at timestamptz,
  -- It limits our requests until then.
  slowed_until timestamptz,
  -- The files of the default branch were listed.
  listed_at timestamptz,
  -- [{"stack_root", "source_root", "by": found or member, "matched", "tried"}]
  source_roots jsonb not null default '[]',
  reads_owners boolean not null default true,
  owners_path text,
  owners_rules integer,
  owners_unknown jsonb not null default '[]',
  owners_read_at timestamptz
);

create table code_host_deliveries (
  project_id uuid not null,
  delivery_id text collate "C" not null,
  event text not null,
  received_at timestamptz not null,
  ip text not null,
  request_id text not null,
  state text not null check (state in ('waiting', 'done', 'failed')),
  -- Compressed; null when it is done.
  body bytea,
  summary text,
  primary key (project_id, delivery_id)
) with (fillfactor = 80);
create index code_host_deliveries_by_age on code_host_deliveries (received_at);
create index code_host_deliveries_newest on code_host_deliveries (project_id, received_at desc);

create table host_commits (
  project_id uuid not null,
  sha text collate "C" not null,
  -- Commits of the default branch in the order of their arrival, oldest first.
  seq bigint generated always as identity,
  is_default boolean not null,
  -- Cut.
  message text not null,
  author_name text,
  author_email text,
  author_login text,
  committed_at timestamptz not null,
  -- [{"path", "type": A, M or D, "lines": [[start, count]], "patch"}]; null while unknown.
  files jsonb,
  -- Names of these files without folders, each behind the end of the id of the project.
  name_keys text[],
  file_count integer,
  -- Its files and lines are still to be fetched.
  is_wanted boolean not null default false,
  primary key (project_id, sha)
) with (fillfactor = 80);
create index host_commits_in_order on host_commits (project_id, seq);
create index host_commits_by_name on host_commits using gin (name_keys);
create index host_commits_wanted on host_commits (project_id, seq) where is_wanted;

-- Files of the default branch, as far as they are known.
create table host_files (
  project_id uuid not null,
  path text collate "C" not null,
  name text collate "C" not null,
  primary key (project_id, path)
);
create index host_files_by_name on host_files (project_id, name);

create table host_tags (
  project_id uuid not null,
  tag text collate "C" not null,
  sha text collate "C" not null,
  tagged_at timestamptz not null,
  primary key (project_id, tag)
);

-- Commits and pull requests that name an issue.
create table host_mentions (
  project_id uuid not null,
  issue_id uuid not null references issues on delete cascade,
  kind text not null check (kind in ('commit', 'pull')),
  -- Hash or number.
  ref text collate "C" not null,
  title text not null,
  url text not null,
  author text,
  -- fixes: merged into the default branch with a word such as "fixes".
  state text not null check (state in ('mentioned', 'open', 'merged', 'closed', 'fixes')),
  mentioned_at timestamptz not null,
  primary key (issue_id, kind, ref)
);
create index host_mentions_by_project on host_mentions (project_id);
