-- Use of the model by an organisation, per UTC day.

create table assistant_usage (
  org_id uuid not null references orgs on delete cascade,
  day date not null,
  requests integer not null default 0,
  -- A call that is under way counts with the most it can use.
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  -- Millionths of a USD.
  cost_micros bigint not null default 0,
  -- Requests since the start of a minute.
  minute timestamptz not null,
  minute_requests integer not null default 0,
  primary key (org_id, day)
);
