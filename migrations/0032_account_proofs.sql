-- contract: no release ever read has_second_factor, and a sign-in that waits for its confirmation lasts ten minutes

-- When the user proved to receive mails at the address, or single sign-on of its domain said so. Null after a sign-up:
-- anybody can type any address.
alter table users add column email_proved_at timestamptz;

-- Whether the sign-in needed a code of the account's own second factor, and had it.
alter table sessions add column has_code boolean not null default false;

-- What the provider says about a second factor does not count for linking, which opens an account here.
alter table sso_pending_links drop column has_second_factor;
