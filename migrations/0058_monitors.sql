-- Monitors that are paused or muted.

alter table monitors add column state text not null default 'active';
alter table monitors add constraint monitors_state_check check (state in ('active', 'paused', 'muted')) not valid;
alter table monitors validate constraint monitors_state_check;
-- When it was paused, muted or continued; nothing is expected before.
alter table monitors add column state_at timestamptz;
