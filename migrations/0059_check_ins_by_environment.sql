-- no transaction

-- The newest runs of a monitor in each of its environments.
create index concurrently if not exists check_ins_of_environment on check_ins (monitor_id, environment, received_at);
