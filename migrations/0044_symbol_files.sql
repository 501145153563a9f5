-- Files that make frames readable: source maps, mappings of ProGuard and R8, debug files of native code. Their contents
-- are blobs, with the holder `symbol_file`.

create table symbol_files (
  id uuid primary key,
  org_id uuid not null,
  project_id uuid not null,
  kind text not null check (kind in ('js_source_map', 'proguard', 'macho', 'elf', 'breakpad')),
  -- As shown.
  name text not null,
  -- Names the file in events: a debug id, the UUID of a mapping or of an object.
  debug_id uuid,
  code_id text,
  cpu_name text,
  release text,
  dist text,
  -- The address of the generated code, such as `~/static/app.js`.
  url text,
  -- Its content: a blob of the organisation, and the object in it of a file with several.
  sha256 bytea not null,
  object integer not null default 0,
  size_bytes bigint not null,
  features text[] not null default '{}',
  created_by uuid references users on delete set null,
  created_at timestamptz not null,
  state text not null check (state in ('indexing', 'ready', 'failed')),
  -- Why it failed, as a sentence.
  problem text
);
create index symbol_files_by_project on symbol_files (project_id, kind, created_at, id);
create index symbol_files_by_debug_id on symbol_files (project_id, debug_id, created_at desc) where debug_id is not null;
create index symbol_files_by_release on symbol_files (project_id, release, url, created_at desc) where release is not null;
create index symbol_files_by_content on symbol_files (org_id, sha256);
create index symbol_files_by_user on symbol_files (created_by) where created_by is not null;

-- The index of a content, which all files of the organisation with this content share.
create table symbol_indexes (
  id uuid primary key,
  org_id uuid not null,
  sha256 bytea not null,
  object integer not null,
  kind text not null,
  -- The version of the form of the index: a newer one is built from the content.
  version smallint not null,
  directory bytea not null,
  created_at timestamptz not null,
  unique (org_id, sha256, object, kind, version)
);
alter table symbol_indexes alter column directory set storage external;

create table symbol_parts (
  index_id uuid not null references symbol_indexes on delete cascade,
  part integer not null,
  -- zstd
  bytes bytea not null,
  primary key (index_id, part)
);
alter table symbol_parts alter column bytes set storage external;

-- Pieces of files that upload tools send before they name the file; kept for a day. Contents are blobs, with the holder
-- `upload_chunk`.
create table upload_chunks (
  id uuid primary key,
  org_id uuid not null,
  sha1 bytea not null,
  size_bytes integer not null,
  created_at timestamptz not null,
  unique (org_id, sha1)
);
create index upload_chunks_by_age on upload_chunks (created_at);

-- Files that were put together of chunks: a tool that asks again gets the same answer.
create table assembled_files (
  project_id uuid not null,
  sha1 bytea not null,
  file_ids uuid[] not null,
  created_at timestamptz not null,
  primary key (project_id, sha1)
);
