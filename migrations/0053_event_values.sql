-- Operating systems, devices and exception types of stored events, as numbers of 4 bytes (server/events/store/event-values.ts).
create table event_values (
  project_id uuid not null,
  -- 0 operating system, 1 model of the device, 2 type of the exception.
  kind smallint not null,
  -- A hash of the value: every process computes the same. A value whose number is taken has none.
  id integer not null,
  value text not null,
  -- The last day of receipt of an event with it. A day before all events are kept, it is deleted.
  last_day date not null,
  primary key (project_id, kind, id)
) with (fillfactor = 90);
create index event_values_by_age on event_values (last_day);
-- Null for unknown, and for what exceeds the limit of the project.
alter table events add column os_id integer, add column device_id integer, add column exception_type_id integer;

-- Events without a number have the type of their issue.
create or replace view nlq.events with (security_barrier) as
select e.project_id, e.received_day, e.event_id, coalesce(g.issue_id, e.issue_id) as issue_id, e.occurred_at as "time",
  e.received_at, e.level, i.platform, e.release, nullif(e.environment, '') as environment, o.value as os,
  d.value as device, coalesce(t.value, i.error_type) as exception_type,
  lpad(to_hex(e.user_hash % 1099511627776), 10, '0') as user_key
from events e
left join issue_groups g on g.id = e.issue_id
left join issues i on i.id = g.id
left join event_values o on o.project_id = e.project_id and o.kind = 0 and o.id = e.os_id
left join event_values d on d.project_id = e.project_id and d.kind = 1 and d.id = e.device_id
left join event_values t on t.project_id = e.project_id and t.kind = 2 and t.id = e.exception_type_id
where e.project_id = nlq.project() and e.received_day >= nlq.oldest_day();
