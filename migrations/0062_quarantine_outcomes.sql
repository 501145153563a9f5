-- The counts of a request in quarantine, [["error", 1], …]: another try takes them back. Null for requests of earlier versions.
alter table spool_quarantine add column counted jsonb;
