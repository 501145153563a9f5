/** Statements that must be refused, or run without an effect beyond the rows of their project; and others that must run. */

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The id of another project and a text of another organisation stand in these places. */
export const FOREIGN = '00000000-0000-7000-8000-00000000beef'

export const REFUSED: readonly string[] = [
  ...lines(`
    insert into events select * from events
    update issues set title = 'x'
    delete from events
    delete from only events
    truncate events
    drop table events
    drop view issues
    create table t as select * from events
    create temp table t (a int)
    create view v as select * from events
    create function f() returns int language sql as 'select 1'
    alter role nlq_ro superuser
    alter table events disable row level security
    grant all on events to public
    revoke select on issues from nlq_ro
    copy events to '/tmp/x'
    copy events to program 'id'
    copy (select * from events) to stdout
    copy events from program 'curl example.com'
    do 'begin perform 1; end'
    call f()
    merge into events using issues on true when matched then delete
    explain select * from events
    explain analyze delete from events
    show all
    set role postgres
    set local role postgres
    set session authorization postgres
    reset role
    reset all
    begin
    commit
    rollback
    savepoint a
    prepare p as select 1
    execute p
    deallocate all
    declare c cursor for select * from events
    fetch all from rows_read
    move all in rows_read
    close all
    listen x
    notify x
    unlisten *
    lock table events
    vacuum
    analyze
    cluster
    reindex table events
    checkpoint
    load 'x'
    discard all
    comment on view issues is 'x'
    security label on table events is 'x'
    import foreign schema public from server s into nlq
    refresh materialized view issues
    create role r superuser
    create extension dblink
    alter system set work_mem = '1GB'
    table pg_class
    values (pg_sleep(1))
    select pg_sleep(10)
    select pg_catalog.pg_sleep(10)
    select PG_SLEEP(1)
    select "pg_sleep"(1)
    select U&"pg\\005fsleep"(1)
    select set_config('nlq.project', '${FOREIGN}', true), (select count(*) from events)
    select set_config('statement_timeout', '0', false)
    select set_config('role', 'postgres', true)
    select current_setting('nlq.project')
    select pg_read_file('/etc/passwd')
    select pg_read_binary_file('/etc/passwd')
    select pg_ls_dir('/')
    select pg_stat_file('/etc/passwd')
    select lo_import('/etc/passwd')
    select lo_export(1, '/tmp/x')
    select lo_get(1)
    select dblink('host=x', 'select 1')
    select query_to_xml('delete from events', true, true, '')
    select query_to_json('select 1')
    select table_to_xml('events', true, true, '')
    select database_to_xml(true, true, '')
    select schema_to_xml('public', true, true, '')
    select cursor_to_xml('c', 1, true, true, '')
    select xpath('/a', '<a/>')
    select pg_terminate_backend(1)
    select pg_cancel_backend(1)
    select pg_reload_conf()
    select pg_rotate_logfile()
    select pg_advisory_lock(1)
    select pg_try_advisory_lock(1)
    select pg_notify('faultline', 'x')
    select pg_export_snapshot()
    select txid_current()
    select pg_current_xact_id()
    select nextval('event_block_ids')
    select setval('event_block_ids', 1)
    select currval('event_block_ids')
    select lastval()
    select pg_relation_size('events')
    select pg_get_viewdef('issues')
    select pg_get_functiondef(1)
    select has_table_privilege('events', 'select')
    select to_regclass('events')
    select to_regrole('postgres')
    select version()
    select inet_server_addr()
    select inet_client_addr()
    select pg_backend_pid()
    select pg_postmaster_start_time()
    select current_database()
    select current_schemas(true)
    select current_query()
    select obj_description(1)
    select random()
    select gen_random_uuid()
    select repeat('x', 1000000000)
    select lpad('x', 1000000000)
    select rpad('x', 1000000000, 'y')
    select format('%1000000000s', 'x')
    select string_agg(title, ',') from issues
    select array_agg(title) from issues
    select json_agg(issues) from issues
    select jsonb_agg(title) from issues
    select row_to_json(e) from events e
    select to_jsonb(e) from events e
    select xmlagg(xmlelement(name a)) from events
    select json_build_object('a', 1)
    select json_object('a': 1)
    select json_array(1, 2)
    select * from json_table('[1]', '$[*]' columns (a int path '$'))
    select * from xmltable('/a' passing '<a/>' columns b int)
    select * from json_each('{}')
    select * from jsonb_array_elements('[]')
    select * from unnest(array[1, 2])
    select * from pg_ls_dir('/')
    select * from pg_stat_activity
    select * from pg_catalog.pg_class
    select * from pg_authid
    select * from pg_shadow
    select * from pg_settings
    select * from pg_roles
    select * from information_schema.tables
    select * from pg_views
    select * from public.events
    select * from public.users
    select * from nlq.events
    select * from nlq.issues where project_id = '${FOREIGN}'
    select * from faultline.nlq.events
    select * from users
    select * from sessions
    select * from api_keys
    select * from orgs
    select * from projects
    select * from spool
    select * from saved_queries
    select * from "Events"
    select * from "events "
    select * from only events
    select * from events tablesample system (100)
    select * from events tablesample bernoulli (1) repeatable (1)
    select * from rows from (generate_series(now(), now(), interval '1 hour'))
    select * from generate_series(1, 1000000000)
    select generate_series(1, 1000000000)
    select * from generate_series(1::numeric, 1000000000)
    select * from generate_series(now(), now() + interval '1 year', interval '1 microsecond')
    select * from generate_series(now(), now() + interval '1 year', interval '0.001 seconds')
    select * from generate_series(now(), now() + interval '1 year', '1 minute')
    select * from generate_series(now(), now() + interval '1 year', interval '1 hour', 'UTC')
    select * from events for update
    select * from events for share
    select * from events for no key update skip locked
    select * from (select * from events for update) x
    select * from events order by time fetch first 3 rows with ties
    select 1 into t
    select * into t from events
    select * into temp t from events
    select * into unlogged t from events
    with x as (delete from events returning *) select * from x
    with x as (insert into events select * from events returning 1) select 1
    with x as (update issues set title = '' returning 1) select * from x
    with x as (merge into events using issues on true when matched then delete returning 1) select 1
    with recursive r as (select 1 union all select * from r) select * from r
    with events as (select 1) select * from events
    with issues as (select * from releases) select * from issues
    with a as (with events as (select 1 as time) select * from events) select * from a
    with x as materialized (select pg_sleep(1)) select * from x
    with delete_all as (select 1) delete from events
    select 1; select 2
    select 1; drop table events
    select 1;;; delete from events;
    select 1 /* ; */; delete from events
    ; select 1; select 2
    select $1
    select $1::text from events
    select * from events where level = $1
    select current_user
    select session_user
    select user
    select current_role
    select current_catalog
    select current_schema
    select ctid from events
    select e.ctid from events e
    select xmin from events
    select tableoid from issues
    select tableoid::regclass from issues
    select project_id from issues
    select received_day from events
    select e.project_id from events e
    select oid from events
    select 'pg_class'::regclass
    select 'events'::regclass::oid
    select 1::oid
    select 'x'::name
    select '{}'::json
    select '{}'::jsonb
    select '<a/>'::xml
    select '1'::"char"
    select 'a'::char(1000000)
    select '{1}'::int[]
    select '1.1.1.1'::inet
    select 'a'::tsvector
    select '(1,2)'::point
    select '\\x00'::bytea
    select b'101'
    select x'ff'
    select 'x'::public.foo
    select 'x'::nlq.events
    select null::events
    select title::issues from issues
    select cast('a' as pg_catalog.regproc)
    select title collate "C" from issues
    select title collate "de_DE" from issues
    select (e).title from issues e
    select (e).* from events e
    select (array[1, 2])[1]
    select array[1, 2]
    select array(select title from issues)
    select row(1, 2)
    select e from events e
    select e::text from events e
    select issues from issues
    select count(e) from events e
    select e.row_to_json from events e
    select e.to_jsonb from events e
    select e.pg_typeof from events e
    select e.text from issues e
    select x.row_to_json from (select 1 as a) x
    select x.row_to_json from (select * from events join issues using (level)) x
    select j.row_to_json from (events join issues using (level)) j
    select j.a from (events join issues using (level)) as j (row_to_json)
    select s.row_to_json from (select 1) s (row_to_json, b), lateral (select s.to_json) y
    select s from (select 1) s, (select s from (select 2 as s) t) u where u.nothing
    select nothing from events
    select events.nothing from events
    select i.title from events
    select title operator(public.=) 'x' from issues
    select 1 operator(nlq.+) 1
    select title <-> 'x' from issues
    select title @@ 'x' from issues
    select title @> 'x' from issues
    select '{}' -> 'a'
    select '{}' ->> 'a'
    select 1 | 2
    select 1 & 2
    select 1 << 40
    select a.* from events a order by time using >
    select count(variadic array[1])
    select concat(variadic array['a'])
    select round(v => 1.5)
    select make_interval(days => 1)
    select public.now()
    select nlq.project()
    select nlq.oldest_day()
    select nlq.note_rows(-1000000)
    select nlq.sketch_bins('')
    select project()
    select pg_catalog.set_config('role', 'postgres', true)
    select a.b.c.d from events
    select public.events.title from events
    select merge_action()
    select grouping(1, 2, 3) from events group by cube (level, release, os, device, platform, environment)
    select * from events where exists (delete from issues)
    select * from (values (pg_sleep(1))) v
    select * from lateral (select pg_sleep(1)) x
    select * from events e join lateral (select set_config('role', 'postgres', true)) x on true
    select * from events order by pg_sleep(1)
    select * from events limit (select pg_sleep(1)::int)
    select * from events offset pg_sleep(1)
    select count(*) filter (where pg_sleep(1) is null) from events
    select sum(1) over (order by pg_sleep(1)) from events
    select sum(1) over w from events window w as (partition by pg_sleep(1))
    select * from events group by pg_sleep(1)
    select 1 from events having pg_sleep(1) is null
    select distinct on (pg_sleep(1)) 1
    select case when true then pg_sleep(1) end
    select coalesce(pg_sleep(1)::text, '')
    select greatest(pg_read_file('/etc/passwd'))
    select nullif(pg_read_file('/etc/passwd'), '')
    select 1 in (select pg_sleep(1)::int)
    select 1 = any (array(select 1))
    select (pg_sleep(1), 1) = (null, 1)
    select 1 union select pg_sleep(1)::int
    select 1 union all (select 1 from pg_class)
    (select 1) except (select 1 from users)
    select * from (select * from (select * from pg_class) a) b
    select level from events where level similar to (select pg_read_file('/etc/passwd'))
    select xmlparse(document '<a/>')
    select xmlserialize(content '<a/>' as text)
    select '{}' is json
    select * from events, pg_class
    select * from events natural join pg_class
    select * from events e left join users u on true
    select * from events as of system time '-1h'
    select /*+ SeqScan(events) */ * from pg_class
    select * from dblink('x', 'y') as t(a int)
    select * from now() as t
    select * from generate_series(now(), now(), interval '1 hour') as g(a int)
    `),
  'select 1\u0000; drop table events',
  'select 1 \u0001',
  '\uFEFFselect 1\uFEFF from events where true',
  'select 1 \u0085 from events',
  `select '${'x'.repeat(8_000)}'`,
  `select '${'€'.repeat(6_000)}'`,
  `select ${'('.repeat(3_900)}1${')'.repeat(3_900)} from pg_class`,
  `select ${'('.repeat(7_900)}`,
  `select ${'not '.repeat(1_900)}true`,
  `select ${'- '.repeat(1_500)}event_count from issues`,
  `select ${'title || '.repeat(700)}'' from issues`,
  `select ${'*, '.repeat(2_000)}1 from events`,
  `select * from ${Array.from({ length: 9 }, (_, i) => `events e${i}`).join(', ')}`,
  `select ${Array.from({ length: 101 }, (_, i) => i).join(', ')}`,
  `${'select * from ('.repeat(300)}select 1${') x'.repeat(300)}`,
  '',
  '   ',
  '-- only a comment',
  ';',
  'select',
  'select * from',
  'selec * from events',
  "select 'unterminated",
  'select "unterminated',
  'select $$unterminated',
  'select /* unterminated',
  'how many crashes were there yesterday?',
  "count(*) from events'; drop table events; --",
  'SELECT * FROM events; -- \n COMMIT; DELETE FROM events',
  'select * from events\n;\nselect * from users',
]

/** Statements that look dangerous and run: what they could do is outside their project or has no effect. */
const nested = (depth: number, start: string, around: (inner: string) => string): string =>
  Array.from({ length: depth }).reduce<string>((inner) => around(inner), start)
const list = (count: number, one: (index: number) => string, joint: string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join(joint)
const big = (count: number): string =>
  `select 1 from (select power(7::numeric, 140000) a, power(3::numeric, 130000) b offset 0) s where ${list(count, (n) => `a % (b + ${n}) = 0`, ' or ')}`

/** Statements that would take memory or time that no limit of the database ends. */
export const COSTLY: readonly string[] = [
  `select length(${nested(28, "'\\'", (x) => `like_escape(${x}, '#')`)})`,
  `select length(${nested(28, "'\\'", (x) => `similar_to_escape(${x}, '#')`)})`,
  "select title like like_escape(like_escape(title, '#'), '#') from issues",
  big(500),
  `with ${list(20, (n) => (n === 0 ? 'a0 as (select count(*) x from events)' : `a${n} as (select x * x as x from a${n - 1})`), ', ')} select x from a19`,
  nested(12, 'select event_count as x from issues', (inner) => `select x * x as x from (${inner}) s`),
  nested(12, 'select event_count as x from issues', (inner) => `select variance(x) as x from (${inner}) s`),
  `select ${list(30, () => 'event_count', ' * ')} from issues`,
  'select 1e130000 % 7',
  `select ${'9'.repeat(5_000)} % 7`,
  `select ${list(130, () => 'title', ' || ')} from issues`,
  `select ${list(100, () => "replace(title, 'a', culprit)", ', ')} from issues`,
  `select concat(${list(1_000, () => 'title', ', ')}) from issues`,
  'select 1 as e from issues e order by length(e::text)',
  'select concat(1, 2) as i from issues i group by concat(i, i)',
]

export const NEUTRALISED: readonly string[] = [
  ...lines(`
    select * from events where true or 1 = 1
    select * from events where false union all select * from events
    select * from issues where title = '' or '' = ''
    select title from issues union select version from releases
    select title from issues where id::text <> '${FOREIGN}' or true
    select a.title, b.title from issues a cross join issues b
    select * from issues where exists (select 1 from issues other where other.id <> issues.id)
    select '; drop table events; --' as x
    select '/*' as x, '*/' as y
    select 'project_id = ''${FOREIGN}''' as x from issues
    select $$ ) or true -- $$ as x from issues
    select E'\\'; drop table events; --' as x
    select U&'\\0027; drop table events' as x
    select "time" from events as "events where true or '"
    select 1 as "x"" from pg_class --"
    select 1 as "project_id"
    select true as project_id from issues where true
    with "pg_class" as (select 1 as relname) select relname from "pg_class"
    with users as (select title as email from issues) select email from users
    select i.title from issues i, lateral (select * from events where issue_id = i.id or true) e
    select replace(replace(replace(title, 'a', title), 'e', title), 'r', title) from issues
    select t || t || t from (select t || t || t as t from (select t || t || t as t from (select title || title as t from issues) a) b) c
    select concat(t, t, t, t) from (select concat(t, t, t, t) as t from (select concat(title, title) as t from issues) a) b
    select regexp_replace(title, '.', title, 'g') from issues
    select * from issues where title ~ '(a+)+$'
    select power(10::numeric, 1000)
    select count(*) from issues a, issues b, issues c, issues d
    select 1 from issues where 1 / (case when title like '%canary%' then 0 else 1 end) = 1
    select * from issues where title::text::int = 1 and false
    select * from (select * from events) as nlq
    select events.level from events as events
    select * from events as e (project_id, a, b)
    select * from events limit all
    select * from events offset 1000000000
    select * from issues natural join events
    select pg_catalog.count(*) from events
    select (select count(*) from issues) from issues
    select current_date, current_timestamp, localtimestamp
    table events
    values (1, 'a'), (2, 'b')
    select * from issues -- ' or true
    select * from issues /* where */ where /* ; */ true
    `),
  'select 1;',
  'select *\tfrom\r\n issues',
]

/** Statements that members write; over events, issues and releases. */
export const BENIGN: readonly string[] = lines(`
  select count(*) from events
  select count(*) as crashes from events where level = 'fatal' and time >= now() - interval '7 days'
  select level, count(*) from events group by level order by count(*) desc
  select level, count(*) as n from events group by 1 order by 2 desc limit 10
  select date_trunc('day', time) as day, count(*) from events where time > now() - interval '30 days' group by day order by day
  select date_trunc('hour', time at time zone 'Europe/Berlin') as hour, count(distinct user_key) as users from events group by 1 order by 1
  select extract(dow from time)::int as weekday, count(*) from events group by 1 order by 1
  select extract(epoch from max(time) - min(time)) / 3600 as hours from events
  select to_char(time, 'YYYY-MM') as month, count(*) from events group by to_char(time, 'YYYY-MM') order by month
  select release, count(*) filter (where level = 'fatal') as fatal, count(*) as all_events from events group by release
  select release, round(100.0 * count(*) filter (where level = 'fatal') / nullif(count(*), 0), 2) as share from events group by release
  select i.title, count(*) as n from events e join issues i on i.id = e.issue_id group by i.title order by n desc limit 5
  select i.short_id, i.title, count(distinct e.user_key) from issues i left join events e on e.issue_id = i.id group by i.short_id, i.title
  select title, event_count from issues where status in ('unresolved', 'regressed') order by event_count desc limit 20
  select title from issues where title ilike '%error%' and is_unhandled
  select title from issues where title like 'a\\_%' escape '\\'
  select title from issues where not is_unhandled or severity = 'critical'
  select title from issues where title ~* '^alpha' and culprit !~ 'x'
  select title from issues where error_type is not null and assignee is null
  select status, count(*), avg(event_count)::numeric(10, 2), max(last_seen) from issues group by status having count(*) > 0
  select * from issues where first_seen between '2026-01-01' and '2027-01-01'
  select * from issues where first_release = (select version from releases order by released_at desc limit 1)
  select version from releases r where not exists (select 1 from events e where e.release = r.version)
  select version from releases where version in (select release from events)
  select version, released_at, lag(version) over (order by released_at) as previous from releases
  select rank() over (order by event_count desc), title from issues
  select title, sum(event_count) over (order by first_seen rows between unbounded preceding and current row) from issues
  select title, row_number() over w, event_count - lag(event_count) over w as change from issues window w as (partition by level order by first_seen)
  select title, ntile(4) over (order by event_count) from issues
  select percentile_cont(0.5) within group (order by event_count) from issues
  select percentile_disc(0.9) within group (order by event_count), count(*) from issues
  select mode() within group (order by level) from events
  select distinct platform from issues order by platform
  select distinct on (level) level, title, last_seen from issues order by level, last_seen desc
  select coalesce(release, 'unknown') as release, greatest(count(*), 1), least(1, 2) from events group by 1
  select case when event_count > 100 then 'many' when event_count > 10 then 'some' else 'few' end as size, count(*) from issues group by 1
  select case level when 'fatal' then 1 else 0 end from events
  with recent as (select * from events where time > now() - interval '1 day') select level, count(*) from recent group by level
  with a as (select release, count(*) as n from events group by release), b as (select version from releases) select b.version, coalesce(a.n, 0) from b left join a on a.release = b.version
  with a (x, y) as (select level, count(*) from events group by level) select x, y from a order by y
  with this_week as (select count(*) as n from events where time >= now() - interval '7 days'), before as (select count(*) as n from events where time >= now() - interval '14 days' and time < now() - interval '7 days') select this_week.n, before.n, this_week.n - before.n as change from this_week, before
  select 'new' as kind, count(*) from issues where first_seen > now() - interval '1 day' union all select 'open', count(*) from issues where status = 'unresolved'
  (select title from issues order by first_seen limit 1) union (select title from issues order by last_seen desc limit 1)
  select level from events except select level from issues
  select level from events intersect select level from issues order by 1
  select level, release, count(*) from events group by grouping sets ((level), (release), ())
  select level, release, count(*), grouping(level, release) from events group by rollup (level, release)
  select level, release, count(*) from events group by cube (level, release)
  select g.hour, count(e.event_id) from generate_series(now() - interval '24 hours', now(), interval '1 hour') as g (hour) left join events e on e.time >= g.hour and e.time < g.hour + interval '1 hour' group by g.hour order by g.hour
  select d::date as day, n from generate_series(date '2026-11-01', date '2026-11-30', '1 day'::interval) d left join lateral (select count(*) as n from events where time::date = d::date) x on true
  select e.level, x.title from events e cross join lateral (select title from issues where id = e.issue_id) x
  select * from events e join issues i using (level)
  select * from issues i full join releases r on r.version = i.first_release
  select count(*) from events where (level, environment) in (('fatal', 'production'), ('error', 'production'))
  select count(distinct (user_key, release)) from events
  select count(*) from events where level = any (array['fatal', 'error'])
  select count(*) from events where level <> all (array['fatal', 'error'])
  select count(*) from events where release is distinct from 'shop@1.0.0'
  select count(*) from events where (time, time + interval '1 hour') overlaps (now() - interval '1 day', now())
  select upper(level) || ': ' || count(*) as line from events group by level
  select concat(e.level, ' ', e.release) as pair, length(title) from events e join issues i on i.id = e.issue_id
  select split_part(release, '@', 2) as version, count(*) from events group by 1
  select substring(release from '@(.*)$') as version, trim(both ' ' from level), position('@' in release) from events
  select left(title, 20), right(title, 5), replace(title, 'Error', ''), regexp_replace(title, '[0-9]+', 'N', 'g') from issues
  select age(now(), first_seen), now() - last_seen as quiet, make_interval(0, 0, 1) from issues
  select first_seen::date, last_seen::timestamp, event_count::text, id::text, 1::float8, 'true'::boolean from issues
  select time at time zone 'UTC' as utc, timezone('Asia/Tokyo', time) from events
  select count(*) from events where time >= date_trunc('week', now()) and received_at < current_date + 1
  select count(*) from events where time >= timestamptz '2026-11-01 00:00+00' and environment = 'production'
  select count(*) from events where "time" >= '2026-11-01' and "level" = 'error'
  select abs(-1), ceil(1.5), floor(1.5), round(1.555, 2), mod(7, 3), power(2, 10), sqrt(2), ln(10), log(100), 7 % 3, 2 ^ 3
  select stddev(event_count), variance(event_count), corr(event_count, user_count), min(title), bool_or(is_unhandled) from issues
  select width_bucket(event_count, 0, 1000, 10) as bucket, count(*) from issues group by 1 order by 1
  select i.* from issues i order by i.last_seen desc nulls last, i.id limit 10 offset 5
  select title from issues order by event_count desc fetch first 3 rows only
  select count(*) from (select distinct issue_id from events) x
  select x.level as l, x.n from (select level, count(*) as n from events group by level) as x where x.n > 0
  select max(n) from (select count(*) as n from events group by date_trunc('minute', time)) per_minute
  select 1
  select now()
`)

/** The same over counted sessions and measurements. */
export const BENIGN_COUNTED: readonly string[] = lines(`
  select count(*) from app_sessions
  select release, 1 - count(*) filter (where status = 'crashed')::float / count(*) as crash_free from app_sessions group by release
  select date_trunc('day', time), count(*) from app_sessions where time > now() - interval '7 days' group by 1 order by 1
  select os, device_class, count(*) from app_sessions group by os, device_class order by 3 desc
  select user_key, count(*) from app_sessions where status <> 'healthy' group by user_key having count(*) > 1
  select percentile_cont(0.95) within group (order by duration_ms) as p95 from performance where kind = 'cold_start'
  select release, percentile_cont(0.5) within group (order by duration_ms) from performance where kind = 'cold_start' group by release
  select name, count(*), avg(duration_ms) from performance where kind = 'screen_full' group by name order by 3 desc limit 10
`)
