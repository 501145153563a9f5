-- Deleting a user and looking for known networks need ended sessions too.
create index sessions_of_user on sessions (user_id);
