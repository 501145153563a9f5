-- Users of transactions, as a sketch of their hashes, beside the sketch of the durations. Only in the grain of all
-- attributes: a question unites those of a transaction. Null where no transaction named its user.
alter table performance_deltas add column users bytea;
alter table performance_deltas alter column users set storage external;
alter table performance_rollups add column users bytea;
alter table performance_rollups alter column users set storage external;
