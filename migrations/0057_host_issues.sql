-- Issues of a repository at the code host are a tracker, too.

alter table tracker_integrations
  drop constraint tracker_integrations_provider_check,
  add constraint tracker_integrations_provider_check check (provider in ('tracker_a', 'tracker_b', 'codehost')) not valid;
alter table tracker_tickets
  drop constraint tracker_tickets_provider_check,
  add constraint tracker_tickets_provider_check check (provider in ('tracker_a', 'tracker_b', 'codehost')) not valid;
alter table tracker_integrations validate constraint tracker_integrations_provider_check;
alter table tracker_tickets validate constraint tracker_tickets_provider_check;
