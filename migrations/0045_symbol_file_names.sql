-- no transaction

-- Debug files of other builds are found by their name, to say why a frame is not readable.
create index concurrently if not exists symbol_files_by_name on symbol_files (project_id, name) where kind in ('macho', 'elf', 'breakpad');
