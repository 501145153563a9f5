-- Spans of transactions, counted: what they do, and the own time of a transaction's parts (server/telemetry/performance).

-- The statement, host, queue, key or resource of an operation, or a part of a transaction's time. Only in their grains;
-- elsewhere empty.
alter table performance_series add column span text not null default '';
-- Their numbers on a day. Both are limited.
alter table performance_days add column operations integer not null default 0;
alter table performance_days add column parts integer not null default 0;
