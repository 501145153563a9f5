-- How far the mover has brought the intake log (SPOOL_URL) into the spool.
create table spool_log (
  stream text primary key,
  -- The time at which the stream was created, as its server writes it: a new stream counts from 1 again.
  created text not null,
  -- The last message that was moved, and its id; 0 and null before the first.
  sequence bigint not null,
  message_id text,
  -- All that the log acknowledged before this time has been moved.
  moved_until timestamptz not null
);
