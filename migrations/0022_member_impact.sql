-- Whom a merged issue reached by itself: taking it out gives that back.
alter table issue_members add column users_day date, add column wide_day date;
-- One that others were ever merged into has it of all of them, which nothing takes apart any more.
update issue_members m set users_day = i.users_day, wide_day = i.wide_day
from issues i where i.id = m.issue_id and m.own_id = m.issue_id;
