-- no transaction

-- A question reads the series of one grain.
create index concurrently if not exists performance_series_by_grain on performance_series (project_id, grain, name);
