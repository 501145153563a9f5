-- Statements of members over views: the views, the role that reads them, and saved queries (server/assistant/query).

create schema nlq;

-- The project and the days that the transaction of a statement may see. The statement cannot change it: functions that set anything are refused.
create function nlq.project() returns uuid language sql stable parallel safe
  return nullif(pg_catalog.current_setting('nlq.project', true), '')::uuid;
create function nlq.oldest_day() returns date language sql stable parallel safe
  return nullif(pg_catalog.current_setting('nlq.oldest_day', true), '')::date;

-- Each view has the rows of one project, also when the filter of the statement is missing. The barrier keeps conditions of
-- a statement away from other rows. Columns are listed in server/assistant/query/catalogue.ts.

create view nlq.issues with (security_barrier) as
select i.project_id, i.id, upper(p.slug) || '-' || i.number as short_id, i.title, i.culprit, i.error_type, i.error_value,
  i.level, i.platform, i.status,
  case i.severity when 3 then 'critical' when 2 then 'high' when 1 then 'medium' else 'low' end as severity,
  u.name as assignee, i.first_seen, i.last_seen, i.event_count, i.user_count, i.first_release, i.last_release,
  i.resolved_in_release, i.resolved_at, i.is_unhandled, i.created_at
from issues i
left join projects p on p.id = i.project_id
left join users u on u.id = i.assignee_id
where i.merged_into is null and i.project_id = nlq.project();

-- The low 40 bits of the user's hash: sketches of users keep as many.
create view nlq.events with (security_barrier) as
select e.project_id, e.received_day, e.event_id, coalesce(g.issue_id, e.issue_id) as issue_id, e.occurred_at as "time",
  e.received_at, e.level, i.platform, e.release, nullif(e.environment, '') as environment, null::text as os,
  null::text as device, i.error_type as exception_type,
  lpad(to_hex(e.user_hash % 1099511627776), 10, '0') as user_key
from events e
left join issue_groups g on g.id = e.issue_id
left join issues i on i.id = g.id
where e.project_id = nlq.project() and e.received_day >= nlq.oldest_day();

create view nlq.releases with (security_barrier) as
select project_id, id, version, state, dated_at as released_at, first_seen_at, last_seen_at, created_at
from releases
where project_id = nlq.project();

-- The role belongs to the server, not to the database. Who may not create it gets the statements that do, in the dashboard
-- (server/assistant/query/query-state.ts); everything else works.
do $$
begin
  if not exists (select from pg_roles where rolname = 'nlq_ro') then
    create role nlq_ro nologin;
  end if;
exception
  -- Another process created it at the same moment.
  when insufficient_privilege or duplicate_object or unique_violation then null;
end $$;

do $$
begin
  -- A superuser takes any role. Others may not take a role that they created, before this.
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant nlq_ro to %I', current_user);
  end if;
exception
  when insufficient_privilege or undefined_object then null;
end $$;

do $$
begin
  grant usage on schema nlq to nlq_ro;
  grant select on all tables in schema nlq to nlq_ro;
  grant execute on all functions in schema nlq to nlq_ro;
  alter default privileges in schema nlq grant select on tables to nlq_ro;
  alter default privileges in schema nlq grant execute on functions to nlq_ro;
exception
  when undefined_object then null;
end $$;

-- Questions and statements that members keep, per project.
create table saved_queries (
  id uuid primary key,
  project_id uuid not null references project_ids,
  name text not null,
  question text,
  statement text,
  created_by uuid references users on delete set null,
  created_at timestamptz not null,
  check ((question is null) <> (statement is null))
);
create index saved_queries_by_project on saved_queries (project_id, created_at, id);
create index saved_queries_by_creator on saved_queries (created_by);
