-- The views "app_sessions" and "performance" of questions (server/assistant/query): one row for each counted session and
-- measurement, made from rollups and their sketches, so that counts are exact and quantiles within 1 %. Each shows one
-- project, as the other views do.

-- Statements that would read more rows end here. Rows are counted per transaction, because one statement may read a view
-- twice; each statement has a transaction of its own.
create function nlq.note_rows(rows bigint) returns void language plpgsql volatile parallel unsafe as $$
declare
  total bigint := coalesce(nullif(current_setting('nlq.rows', true), ''), '0')::bigint + rows;
begin
  if total > 2000000 then
    raise exception 'too broad' using errcode = 'program_limit_exceeded';
  end if;
  perform set_config('nlq.rows', total::text, true);
end $$;

-- The values of a DDSketch as server/telemetry/sketch/ddsketch.ts writes it: those of each bin within 1 %, minimum and
-- maximum exact. Empty for other bytes.
create function nlq.sketch_bins(sketch bytea) returns table (value double precision, count bigint)
language plpgsql immutable parallel safe rows 20 as $$
declare
  gamma constant double precision := 1.01 / 0.99;
  -- OFFSET of ddsketch.ts, where bin 0 is zero.
  zero constant integer := 1 - ceil(ln(1e-9) / ln(gamma))::integer;
  size constant integer := length(sketch);
  place integer := 25;
  byte integer;
  distance bigint;
  scale integer;
  bin bigint := 0;
  is_first boolean := true;
  low double precision;
  high double precision;
begin
  if size <= 25 or get_byte(sketch, 0) <> 1 then return; end if;
  low := nlq.float_at(sketch, 9);
  high := nlq.float_at(sketch, 17);
  while place < size loop
    distance := 0;
    scale := 0;
    loop
      if place >= size or scale > 49 then return; end if;
      byte := get_byte(sketch, place);
      place := place + 1;
      distance := distance + ((byte & 127)::bigint << scale);
      exit when byte < 128;
      scale := scale + 7;
    end loop;
    if is_first then
      bin := case when distance % 2 = 0 then distance / 2 else -(distance + 1) / 2 end;
      is_first := false;
    else
      bin := bin + distance;
    end if;
    count := 0;
    scale := 0;
    loop
      if place >= size or scale > 49 then return; end if;
      byte := get_byte(sketch, place);
      place := place + 1;
      count := count + ((byte & 127)::bigint << scale);
      exit when byte < 128;
      scale := scale + 7;
    end loop;
    value := case when bin = 0 then 0 else sign(bin) * 2 * power(gamma, abs(bin) - zero) / (gamma + 1) end;
    value := least(greatest(value, low), high);
    return next;
  end loop;
end $$;

-- The double at a place, its lowest byte first.
create function nlq.float_at(bytes bytea, place integer) returns double precision
language plpgsql immutable parallel safe as $$
declare
  top constant integer := get_byte(bytes, place + 7);
  second constant integer := get_byte(bytes, place + 6);
  exponent constant integer := ((top & 127) << 4) + (second >> 4);
  fraction double precision := second & 15;
begin
  for n in reverse place + 5..place loop
    fraction := fraction * 256 + get_byte(bytes, n);
  end loop;
  if exponent = 0 then return 0; end if;
  return case when top >= 128 then -1 else 1 end * (1 + fraction / 4503599627370496) * power(2::double precision, exponent - 1023);
end $$;

-- The hashes of a HyperLogLog that holds a list of them; null for registers, which hold no hashes.
create function nlq.user_hashes(sketches bytea[]) returns bigint[]
language plpgsql immutable parallel safe as $$
declare
  sketch bytea;
  hashes bigint[] := '{}';
  place integer;
begin
  if sketches is null then return hashes; end if;
  foreach sketch in array sketches loop
    if get_byte(sketch, 0) <> 1 then return null; end if;
    place := 1;
    while place < length(sketch) loop
      hashes := array_append(hashes, (get_byte(sketch, place)::bigint << 32) + (get_byte(sketch, place + 1)::bigint << 24)
        + (get_byte(sketch, place + 2) << 16) + (get_byte(sketch, place + 3) << 8) + get_byte(sketch, place + 4));
      place := place + 5;
    end loop;
  end loop;
  -- Hashes of one sketch are distinct.
  if cardinality(sketches) = 1 then return hashes; end if;
  return array(select distinct h from unnest(hashes) h order by h);
end $$;

-- The sessions of one rollup. A rollup does not say which session had which duration and user: durations are spread over
-- all, users of crashed sessions over those, the others over the rest.
create function nlq.session_rows(
  total bigint, errored bigint, unhandled bigint, abnormal bigint, crashed bigint, anrs bigint,
  users bytea[], crashed_users bytea[], durations bytea[], removed bytea[])
returns table (status text, is_anr boolean, duration_ms double precision, user_key text)
language plpgsql volatile parallel unsafe rows 20 as $$
declare
  all_users bigint[];
  crashed_keys bigint[];
  other_keys bigint[];
  spent double precision[];
  step bigint := 1;
  key bigint;
begin
  if total <= 0 then return; end if;
  perform nlq.note_rows(total);
  all_users := nlq.user_hashes(users);
  crashed_keys := nlq.user_hashes(crashed_users);
  if all_users is null or crashed_keys is null then
    all_users := '{}';
    crashed_keys := '{}';
  end if;
  if cardinality(crashed_keys) = 0 then
    other_keys := all_users;
  else
    -- Users without a crash first: each has a session that did not crash.
    other_keys := array(select u from unnest(all_users) u order by u = any(crashed_keys), u);
  end if;
  if durations is not null then
    if removed is null and cardinality(durations) = 1 then
      spent := array(select b.value from nlq.sketch_bins(durations[1]) b cross join generate_series(1, b.count) limit total);
    else
      spent := array(
        select b.value from (
          select v.value, sum(v.count) as count from (
            select s.value, s.count from unnest(durations) d cross join nlq.sketch_bins(d) s
            union all
            select s.value, -s.count from unnest(removed) d cross join nlq.sketch_bins(d) s) v
          group by v.value) b
        cross join generate_series(1, b.count::bigint) order by b.value limit total);
    end if;
    -- A step that visits each of them once.
    step := greatest(1, round(total * 0.618)::bigint);
    while gcd(step, total) <> 1 loop step := step + 1; end loop;
  end if;
  for n in 1..total loop
    if n <= crashed then
      status := 'crashed';
      key := crashed_keys[(n - 1) % nullif(cardinality(crashed_keys), 0) + 1];
    else
      status := case
        when n <= crashed + abnormal then 'abnormal'
        when n <= crashed + abnormal + unhandled then 'unhandled'
        when n <= crashed + abnormal + unhandled + errored then 'errored'
        else 'healthy' end;
      key := other_keys[(n - crashed - 1) % nullif(cardinality(other_keys), 0) + 1];
    end if;
    is_anr := n > crashed and n <= crashed + least(abnormal, anrs);
    duration_ms := spent[(n * step) % total + 1];
    user_key := lpad(to_hex(key), 10, '0');
    return next;
  end loop;
end $$;

create view nlq.app_sessions with (security_barrier) as
select c.project_id, c.time, nullif(c.release, '') as release, nullif(c.environment, '') as environment, nullif(c.os, '') as os,
  nullif(c.device, '') as device, nullif(c.device_class, '') as device_class, s.status, s.is_anr, s.duration_ms, s.user_key
from (
  select k.project_id, k.time, k.release, k.environment, k.os, k.device, k.device_class,
    sum(k.total)::bigint as total, sum(k.errored)::bigint as errored, sum(k.unhandled)::bigint as unhandled,
    sum(k.abnormal)::bigint as abnormal, sum(k.crashed)::bigint as crashed, sum(k.anrs)::bigint as anrs,
    array_agg(k.users) filter (where k.users is not null) as users,
    array_agg(k.crashed_users) filter (where k.crashed_users is not null) as crashed_users,
    array_agg(k.durations) filter (where k.durations is not null) as durations,
    array_agg(k.removed) filter (where k.removed is not null) as removed
  from (
    -- Sketches are read by their whole key: with few statistics the planner would read all of a project for each row.
    -- Minutes of the last two days, hours before. 7881299347898368 is 7 * 2^50: combinations of all attributes.
    select r.project_id, r.bucket as time, coalesce(a.release, '') as release, coalesce(a.environment, '') as environment,
      coalesce(a.os, '') as os, coalesce(a.device, '') as device, coalesce(a.device_class, '') as device_class,
      r.total, r.errored, r.unhandled, r.abnormal, r.crashed, r.anr_foreground + r.anr_background as anrs,
      h.users, h.crashed_users, h.durations, null::bytea as removed
    from public.health_rollups r
    left join public.health_attributes a on a.project_id = r.project_id and a.id = r.attributes_id
    left join lateral (
      select h.users, h.crashed_users, h.durations from public.health_sketches h
      where h.project_id = r.project_id and h.source = r.source and h.bucket_seconds = r.bucket_seconds
        and h.attributes_id = r.attributes_id and h.bucket = r.bucket limit 1) h on true
    where r.project_id = nlq.project() and r.source = 0 and r.attributes_id >= 7881299347898368 and r.attributes_id < 9007199254740992
      and r.bucket_seconds = 60 and r.bucket >= date_trunc('hour', now() - interval '48 hours')
    union all
    select r.project_id, r.bucket, coalesce(a.release, ''), coalesce(a.environment, ''),
      coalesce(a.os, ''), coalesce(a.device, ''), coalesce(a.device_class, ''),
      r.total, r.errored, r.unhandled, r.abnormal, r.crashed, r.anr_foreground + r.anr_background,
      h.users, h.crashed_users, h.durations, null
    from public.health_rollups r
    left join public.health_attributes a on a.project_id = r.project_id and a.id = r.attributes_id
    left join lateral (
      select h.users, h.crashed_users, h.durations from public.health_sketches h
      where h.project_id = r.project_id and h.source = r.source and h.bucket_seconds = r.bucket_seconds
        and h.attributes_id = r.attributes_id and h.bucket = r.bucket limit 1) h on true
    where r.project_id = nlq.project() and r.source = 0 and r.attributes_id >= 7881299347898368 and r.attributes_id < 9007199254740992
      and r.bucket_seconds = 3600 and r.bucket < date_trunc('hour', now() - interval '48 hours')
    union all
    -- Counts that no fold has added to rollups yet.
    select d.project_id,
      case when d.minute >= date_trunc('hour', now() - interval '48 hours') then d.minute
        else date_bin(interval '1 hour', d.minute, 'epoch'::timestamptz) end,
      d.release, d.environment, d.os, d.device, d.device_class,
      d.total, d.errored, d.unhandled, d.abnormal, d.crashed, d.anr_foreground + d.anr_background,
      d.users, d.crashed_users, d.durations, d.durations_removed
    from public.health_deltas d where d.project_id = nlq.project() and d.source = 0) k
  group by 1, 2, 3, 4, 5, 6, 7) c
cross join lateral nlq.session_rows(c.total, c.errored, c.unhandled, c.abnormal, c.crashed, c.anrs,
  c.users, c.crashed_users, c.durations, c.removed) s;

-- The measurements of one rollup. A rollup does not say which of them failed.
create function nlq.measurement_rows(sketch bytea, total bigint, failures bigint)
returns table (value double precision, is_failed boolean)
language plpgsql volatile parallel unsafe rows 20 as $$
declare
  step bigint := 1;
begin
  perform nlq.note_rows(total);
  if failures = 0 then
    return query select b.value, false from nlq.sketch_bins(sketch) b cross join generate_series(1, b.count);
    return;
  end if;
  step := greatest(1, round(total * 0.618)::bigint);
  while gcd(step, total) <> 1 loop step := step + 1; end loop;
  return query select b.value, ((b.before + n) * step) % total < failures
    from (select s.value, s.count, sum(s.count) over (order by s.value) - s.count as before from nlq.sketch_bins(sketch) s) b
    cross join generate_series(1, b.count) n;
end $$;

create view nlq.performance with (security_barrier) as
select c.project_id, c.time, k.kind, nullif(c.name, '') as name, nullif(c.op, '') as operation, nullif(c.release, '') as release,
  nullif(c.environment, '') as environment, nullif(c.os, '') as os, nullif(c.device_class, '') as device_class,
  case when k.is_time then m.value end as duration_ms, m.value, m.is_failed
from (
  -- Positions in METRICS of server/events/protocol/span-values.ts.
  values (0, 'transaction', true), (1, 'cold_start', true), (2, 'warm_start', true), (3, 'screen_initial', true),
    (4, 'screen_full', true), (5, 'frames_total', false), (6, 'frames_slow', false), (7, 'frames_frozen', false),
    (8, 'frames_delay', true), (9, 'stall_count', false), (10, 'stall_total', true), (11, 'stall_longest', true),
    (12, 'lcp', true), (13, 'fcp', true), (14, 'fp', true), (15, 'ttfb', true), (16, 'ttfb_request', true),
    (17, 'cls', false), (18, 'inp', true), (19, 'anr', false), (20, 'anr_wait', true), (21, 'battery_drain', false),
    (22, 'low_memory', false), (23, 'thermal_serious', false), (24, 'thermal_critical', false), (25, 'wake_lock', true),
    (26, 'stall_duration', true)) k (metric, kind, is_time)
join (
  -- Every measurement once: up to an hour apart for two weeks, six hours before, in the grain of all attributes (steps.ts).
  select r.project_id, r.bucket as time, r.metric, s.name, s.op, s.release, s.environment, s.os, s.device_class, r.count, r.failures, r.sketch
  from public.performance_rollups r join public.performance_series s on s.project_id = r.project_id and s.id = r.series_id
  where r.project_id = nlq.project() and r.grain = 0 and r.step in (1, 15) and r.bucket >= date_trunc('hour', now() - interval '48 hours')
  union all
  select r.project_id, r.bucket, r.metric, s.name, s.op, s.release, s.environment, s.os, s.device_class, r.count, r.failures, r.sketch
  from public.performance_rollups r join public.performance_series s on s.project_id = r.project_id and s.id = r.series_id
  where r.project_id = nlq.project() and r.grain = 0 and r.step = 60 and r.bucket < date_trunc('hour', now() - interval '48 hours')
    and r.bucket >= date_bin(interval '6 hours', now() - interval '14 days', 'epoch'::timestamptz)
  union all
  select r.project_id, r.bucket, r.metric, s.name, s.op, s.release, s.environment, s.os, s.device_class, r.count, r.failures, r.sketch
  from public.performance_rollups r join public.performance_series s on s.project_id = r.project_id and s.id = r.series_id
  where r.project_id = nlq.project() and r.grain = 0 and r.step = 360 and r.bucket < date_bin(interval '6 hours', now() - interval '14 days', 'epoch'::timestamptz)
  union all
  select d.project_id, d.minute, d.metric, s.name, s.op, s.release, s.environment, s.os, s.device_class, d.count, d.failures, d.sketch
  from public.performance_deltas d join public.performance_series s on s.project_id = d.project_id and s.id = d.series_id
  where d.project_id = nlq.project()) c
  on c.metric = k.metric
cross join lateral nlq.measurement_rows(c.sketch, c.count, c.failures) m;
