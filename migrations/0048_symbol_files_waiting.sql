-- no transaction

create index concurrently if not exists symbol_files_waiting on symbol_files (org_id, created_at, id) where state = 'indexing';
