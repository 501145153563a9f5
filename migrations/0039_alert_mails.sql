-- Who does not want mails about alerts.

-- Of a rule; of a receiver who is no member, also of all rules: what members want is in notification_preferences.
create table alert_mail_mutes (
  id uuid primary key,
  org_id uuid not null references orgs on delete cascade,
  -- Null: of every rule of the organisation.
  rule_id uuid references alert_rules on delete cascade,
  user_id uuid,
  -- Keyed hash of the address of a receiver who is no member.
  address_hash bytea,
  created_at timestamptz not null,
  foreign key (user_id, org_id) references memberships on delete cascade,
  check ((user_id is null) <> (address_hash is null)),
  unique nulls not distinct (org_id, rule_id, user_id, address_hash)
);
create index alert_mail_mutes_by_rule on alert_mail_mutes (rule_id) where rule_id is not null;
create index alert_mail_mutes_by_member on alert_mail_mutes (user_id, org_id) where user_id is not null;
