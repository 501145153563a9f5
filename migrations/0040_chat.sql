-- Users of the chat who act as members, by the buttons of alerts.

create table chat_links (
  id uuid primary key,
  -- As the chat platform names them.
  team_id text not null,
  chat_user_id text not null,
  team_name text not null,
  chat_user_name text not null,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null,
  unique (team_id, chat_user_id)
);
create index chat_links_by_user on chat_links (user_id);

-- One-time links that a member confirms with a session.
create table chat_link_offers (
  -- SHA-256 of the token, which only the private message contains.
  token_hash bytea primary key,
  team_id text not null,
  chat_user_id text not null,
  team_name text not null,
  chat_user_name text not null,
  expires_at timestamptz not null,
  -- The newest one only.
  unique (team_id, chat_user_id)
);

-- Requests that were verified and are refused a second time, and presses that have had their effect.
create table chat_requests (
  -- The signature, or a digest of what names the press.
  key bytea primary key,
  seen_at timestamptz not null
);
create index chat_requests_by_time on chat_requests (seen_at);
