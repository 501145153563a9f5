-- Files by their content: a file that an organisation has several times is stored once.

create table blobs (
  id uuid primary key,
  org_id uuid not null,
  -- Digest and size of the whole content; null while it is being received.
  sha256 bytea,
  size_bytes bigint,
  -- When receiving began; null when the content is complete.
  draft_since timestamptz,
  unique (org_id, sha256)
);

-- Content in pieces of at most 1 MiB: reading a large file never needs all of it in memory.
create table blob_pieces (
  blob_id uuid not null references blobs on delete cascade,
  seq integer not null,
  -- 0 none, 4 zstd
  encoding smallint not null,
  bytes bytea not null,
  primary key (blob_id, seq)
);
-- Compressed before it is written, where that saves space.
alter table blob_pieces alter column bytes set storage external;

-- Who needs a blob. The foreign key keeps a blob as long as a row names it.
create table blob_uses (
  -- The kind of the row that needs it, and the id of that row.
  holder text not null,
  holder_id uuid not null,
  blob_id uuid not null references blobs,
  -- The day of the holder's partition; null for holders without one.
  day date,
  primary key (holder_id, holder)
);
create index blob_uses_by_blob on blob_uses (blob_id);
create index blob_uses_by_day on blob_uses (holder, day) where day is not null;
