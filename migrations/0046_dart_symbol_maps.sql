-- Obfuscation maps of Dart are files of symbols, too.
alter table symbol_files drop constraint symbol_files_kind_check;
alter table symbol_files add constraint symbol_files_kind_check
  check (kind in ('js_source_map', 'proguard', 'macho', 'elf', 'breakpad', 'dart_symbol_map')) not valid;
alter table symbol_files validate constraint symbol_files_kind_check;
