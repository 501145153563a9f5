-- News of issues whose ignoring ended, and releases in the order of their versions.

alter table inbox_entries drop constraint inbox_entries_kind_check;
alter table inbox_entries add constraint inbox_entries_kind_check
  check (kind in ('assigned', 'mentioned', 'commented', 'regressed', 'escalated', 'reopened'));

-- What a version sorts by, byte by byte: numbers by size (their length stands before them), 2.3.1-rc.1 before 2.3.1,
-- that before 2.3.1.1 and 2.3.1+77; each package by itself. For lists: which of two releases is older is decided by
-- releases/version.ts.
create function release_sort_key(version text) returns text language sql immutable strict parallel safe as $$
  select coalesce(string_agg(
    case
      when m.part[1] ~ '^[0-9]'
        then lpad(length(ltrim(m.part[1], '0'))::text, 3, '0') || ltrim(m.part[1], '0')
      else translate(m.part[1], '-.+', E'\x01\x03\x04')
    end, '' order by m.place), '') || E'\x02'
  from regexp_matches(regexp_replace(version, '(^|@)[vV]([0-9])', '\1\2'), '[0-9]+|[^0-9]+', 'g')
    with ordinality m (part, place)
$$;
alter table releases add column version_key text collate "C" not null
  generated always as (release_sort_key(version)) stored;
