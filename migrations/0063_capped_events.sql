-- Events beyond the largest number that is kept of one issue and day. Packing leaves them out, and their ids stay here as long as
-- a repeated event must not count twice.
create table capped_events (
  received_day date not null,
  project_id uuid not null,
  event_id uuid not null,
  primary key (project_id, event_id, received_day)
) partition by range (received_day);
