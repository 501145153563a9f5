-- Rows of the spool's file that are recorded, or moved into the table, by their ids in the file. A row is deleted when its
-- place in the file was written again.
create table spool_settled (id bigint primary key);
