-- How often indexing a file was started: a file that ends the process each time is given up.
alter table symbol_files add column attempts smallint not null default 0;
