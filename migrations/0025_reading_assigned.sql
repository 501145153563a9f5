-- Whose issues a query finds is told by the index alone, as it is for those of the organisation (0021): somebody's five
-- thousand issues were as many rows, read for the page and for the total. Nothing more is written than before: of what
-- is included nothing changes with an event that another index does not hold.
drop index issues_by_assignee;
create index issues_by_assignee on issues (assignee_id, seen_slot)
  include (id, org_id, project_id, status, severity, level, platform, is_unhandled, merged_into)
  where assignee_id is not null;
