-- Saved views: queries with a name. The whole organisation sees the shared ones.

create table issue_views (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  -- The member who made it. A shared view stays when that member is deleted.
  created_by uuid,
  name text not null,
  is_shared boolean not null,
  query text not null,
  sort text not null,
  filters jsonb not null default '{}',
  position integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (created_by, org_id) references memberships on delete set null (created_by)
);
create index issue_views_by_org on issue_views (org_id, position, created_at);
create index issue_views_by_creator on issue_views (created_by);
