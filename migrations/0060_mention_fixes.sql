-- A commit or pull request that names an issue says that it fixes it, also before it came to the default branch.

alter table host_mentions add column says_fix boolean not null default false;
