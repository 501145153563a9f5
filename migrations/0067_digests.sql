-- A weekly digest by mail, for members who ask for it: the zone of its hour, and the Monday of the last one.
alter table notification_preferences add column digest boolean not null default false;
alter table notification_preferences add column digest_time_zone text not null default 'UTC';
alter table notification_preferences add column digest_week date;

-- Projects for which a member turned a channel off.
create table notification_projects (
  user_id uuid not null,
  org_id uuid not null,
  project_id uuid not null references projects on delete cascade,
  email boolean not null,
  push boolean not null,
  primary key (user_id, org_id, project_id),
  foreign key (user_id, org_id) references memberships on delete cascade
);
create index notification_projects_by_project on notification_projects (project_id);
