-- The key that signs next is published before it signs.

alter table signing_keys drop constraint signing_keys_state_check;
alter table signing_keys
  add constraint signing_keys_states check (state in ('next', 'active', 'retired')) not valid;
-- When the key began to sign. Null for keys from before: they signed as soon as they were created.
alter table signing_keys add column activated_at timestamptz;
