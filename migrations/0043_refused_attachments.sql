-- Files that were refused are named on their event: a row without content. Null for a file that is stored.

alter table attachments add column refused text;
