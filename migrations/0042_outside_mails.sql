-- Mails about alerts to addresses that belong to no member, within the last hour: a bound holds for each address, each
-- organisation and the installation.
create table alert_outside_mails (
  -- Keyed, the same in every organisation.
  address_hash bytea not null,
  org_id uuid not null,
  sent_at timestamptz not null
);
create index alert_outside_mails_by_address on alert_outside_mails (address_hash, sent_at);
create index alert_outside_mails_by_org on alert_outside_mails (org_id, sent_at);
create index alert_outside_mails_by_age on alert_outside_mails (sent_at);
