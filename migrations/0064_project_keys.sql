-- Keys of a project have a name, a limit of their own and can be disabled.
alter table project_keys add column name text not null default 'Default' check (length(name) between 1 and 60);
-- Null: the limit of the project.
alter table project_keys add column rate_limit_per_minute integer check (rate_limit_per_minute >= 1);
-- Refused from then on, until it is enabled again.
alter table project_keys add column disabled_at timestamptz;
-- A rotated key takes the place of the one before; the first place is the key in the DSN of the project.
alter table project_keys add column place integer not null default 0;
