-- What an issue was found by before others were merged into it: it is that again when they are taken out.
alter table issue_search add column own_document tsvector;

-- What a resolution means in each project of an operation, by project id: the same for all of its issues, however long
-- it takes.
alter table bulk_operations add column fixes jsonb not null default '{}';
