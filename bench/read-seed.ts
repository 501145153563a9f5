import type { Database } from '#server/platform/storage/database.ts'
import { zstdCompressSync } from 'node:zlib'
import pg from 'pg'
import { orgTerm } from '#server/issues/search/index-terms.ts'
import { RECEIVED_DAY_TABLES } from '#server/ingest/digest/digest.ts'
import { utcDay } from '#server/platform/kernel/day.ts'
import { ensureDayPartitions } from '#server/platform/storage/day-partitions.ts'

/**
 * Fills a database with many issues and events: SQL copies of what digestion stored, with new ids, times, users and
 * issues. Bodies are small (0.3 kB for a whole event), rows have their usual size.
 */

export type SeedPlan = { readonly issues: number; readonly events: number; readonly days: number }

const EVENTS_AT_ONCE = 250_000

/** A vocabulary to search for: words of different frequency, `rare0` … `rare49999` once or twice. */
const WORDS = `array['w' || (g % 5000), 'module' || (g % 300), 'common' || (g % 10), 'rare' || g]`

export async function seed(
  db: Database,
  connectionString: string,
  plan: SeedPlan,
  progress: (line: string) => void,
): Promise<void> {
  const now = Date.now()
  for (let day = 0; day <= plan.days; day++)
    await ensureDayPartitions(db, RECEIVED_DAY_TABLES, utcDay(new Date(now - day * 86_400_000)))
  // A separate connection: those of the pool cancel statements that take long.
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(`set maintenance_work_mem = '512MB'; set work_mem = '64MB'`)
    await fill((sql, values = []) => client.query(sql, values), plan, progress)
  } finally {
    await client.end()
  }
}

async function fill(run: Run, plan: SeedPlan, progress: (line: string) => void): Promise<void> {
  const { rows } = await run('select count(*)::int as n from issues')
  const present = Number(rows[0]?.['n'] ?? 0)
  if (present < plan.issues) {
    progress(`${plan.issues.toLocaleString('en')} issues`)
    await seedIssues(run, plan, present)
  }
  await seedEvents(run, plan, progress)
  progress('statistics')
  await run('vacuum (analyze)')
}

type Run = (sql: string, values?: unknown[]) => Promise<pg.QueryResult<Record<string, unknown>>>

/** Times of the last event: most are long ago; statuses, severities and assignees in realistic shares. */
async function seedIssues(run: Run, { issues, days }: SeedPlan, present: number): Promise<void> {
  await run(`create table if not exists bench_copies (id uuid primary key, g int not null, model uuid not null)`)
  await run(
    `insert into bench_copies
     select gen_random_uuid(), g, models.ids[1 + g % array_length(models.ids, 1)]
     from generate_series(1, $1::int) g, (select array_agg(id order by number) as ids from issues) models`,
    [issues - present],
  )
  await run(
    `insert into issues (id, org_id, project_id, number, title, culprit, error_type, error_value, level, platform, status, status_changed_at, open_since,
       severity, assignee_id, first_seen, last_seen, event_count, user_count, first_release, last_release, is_unhandled, created_at, event_severity)
     select c.id, i.org_id, i.project_id, p.issue_number + c.g, i.title || ' ' || c.g, i.culprit, i.error_type, i.error_value,
       (array['error','error','error','fatal','warning','info'])[1 + c.g % 6], i.platform,
       (array['unresolved','unresolved','unresolved','unresolved','unresolved','resolved','resolved','resolved','ignored','regressed'])[1 + c.g % 10], t.seen, t.seen,
       c.g % 4, case when c.g % 20 = 0 then (select user_id from memberships where org_id = i.org_id limit 1) end,
       t.seen - random() * interval '20 days', t.seen, greatest(1, (1000 / (1 + c.g % 997))::int), greatest(1, (300 / (1 + c.g % 997))::int),
       '1.' || c.g % 40 || '.0', '2.' || c.g % 12 || '.0', c.g % 3 = 0, t.seen, 2
     from bench_copies c join issues i on i.id = c.model join projects p on p.id = i.project_id,
       lateral (select date_trunc('milliseconds', now() - interval '1 hour' - power((c.g % 10007) / 10007.0, 2) * $1 * interval '1 day') as seen) t`,
    [days],
  )
  await run(
    `insert into issue_groups (id, issue_id, event_count, user_count, first_seen, last_seen, first_release, last_release, title, culprit,
       error_type, error_value, level, is_unhandled, event_severity)
     select i.id, i.id, i.event_count, i.user_count, i.first_seen, i.last_seen, i.first_release, i.last_release, i.title, i.culprit,
       i.error_type, i.error_value, i.level, i.is_unhandled, i.event_severity
     from bench_copies c join issues i on i.id = c.id`,
  )
  await run(
    `update projects p set issue_number = p.issue_number + $1 where exists (select from issues i where i.project_id = p.id)`,
    [issues],
  )
  // Built again in one step: entry by entry it takes minutes.
  await run('drop index issue_search_by_document')
  await run(
    `insert into issue_search (issue_id, document)
     select c.id, s.document || array_to_tsvector(${WORDS.replaceAll('g ', 'c.g ').replaceAll('|| g]', '|| c.g]')}
         || array[E'\\x1drelease\\x1f1.' || c.g % 40 || '.0', E'\\x1drelease\\x1f2.' || c.g % 12 || '.0', E'\\x1dtenant\\x1ft' || c.g % 1000, $1])
     from bench_copies c join issue_search s on s.issue_id = c.model on conflict do nothing`,
    [orgTerm(String((await run('select org_id from issues limit 1')).rows[0]?.['org_id']))],
  )
  await run(
    'create index issue_search_by_document on issue_search using gin (document) with (gin_pending_list_limit = 512)',
  )
  await run(
    `insert into issue_fingerprints (project_id, hash, group_id, grouping_version, parts, created_at)
     select f.project_id, sha256(c.id::text::bytea), c.id, f.grouping_version, f.parts, now()
     from bench_copies c join lateral (select * from issue_fingerprints f where f.group_id = c.model limit 1) f on true`,
  )
  await run(
    `insert into issue_users (group_id, user_hash) select c.id, (c.g * 7919 + u) % 200000 from bench_copies c, generate_series(1, 8) u on conflict do nothing`,
  )
  await run(
    `insert into user_identities (project_id, user_hash, seen_day, key, value)
     select p.project_id, h, current_date, k.key, k.value from (select project_id from issues limit 1) p, generate_series(0, 199999) h,
       lateral (values ('user.email', 'user' || h || '@example.com'), ('user.ip', '10.' || h % 100 || '.' || h / 100 % 50 || '.7')) k (key, value)
     on conflict do nothing`,
  )
  await run(
    `insert into issue_hours (group_id, hour, events, events_1)
     select c.id, date_trunc('hour', i.last_seen) - h * interval '1 hour', 1 + h, 1 from bench_copies c join issues i on i.id = c.id, generate_series(0, 5) h`,
  )
  await run(
    `insert into issue_activity (id, issue_id, kind, sentence, created_at) select gen_random_uuid(), c.id, 'created', 'First event.', now() from bench_copies c`,
  )
}

/** A quarter of the events belongs to the 200 largest issues, the rest is distributed evenly. */
async function seedEvents(run: Run, { events, days }: SeedPlan, progress: (line: string) => void): Promise<void> {
  const body = zstdCompressSync(Buffer.from(JSON.stringify(SMALL_EVENT)))
  const length = Buffer.byteLength(JSON.stringify(SMALL_EVENT))
  await run('drop table if exists bench_places')
  await run(
    `create table bench_places as
     select (row_number() over (order by id) - 1)::int as n, id, project_id, level, last_release from issues`,
  )
  await run('alter table bench_places add primary key (n)')
  await run('analyze bench_places')
  await run(
    `insert into event_values (project_id, kind, id, value, last_day)
     select p.project_id, k.kind, id, k.name || ' ' || id, current_date from (select project_id from bench_places limit 1) p,
       (values (0, 'OS', 3), (1, 'Device', 400), (2, 'Error', 300)) k (kind, name, n), generate_series(0, k.n - 1) id
     on conflict do nothing`,
  )
  const total = Number((await run('select count(*)::int as n from bench_places')).rows[0]?.['n'])
  const { rows } = await run('select count(*)::int as n from events')
  for (let done = Number(rows[0]?.['n'] ?? 0); done < events;) {
    const count = Math.min(EVENTS_AT_ONCE, events - done)
    progress(`${done.toLocaleString('en')} of ${events.toLocaleString('en')} events`)
    await run(
      `insert into events (received_day, project_id, event_id, issue_id, received_at, occurred_at, level, release, environment, user_hash, body_encoding, body_start, body_end, body, os_id, device_id, exception_type_id)
       select (t.at at time zone 'UTC')::date, i.project_id, gen_random_uuid(), i.id, t.at, t.at, i.level, i.last_release, 'production', g % 200000, 4, 0, $4, $5,
         g % 3, g % 400, i.n % 300
       from generate_series($1::int, $1::int + $2::int - 1) g
       join bench_places i on i.n = case when g % 4 = 0 then (g / 4) % 200 else (g::bigint * 7919) % $6 end,
       lateral (select date_trunc('milliseconds', now() - (((g::bigint * 104729) % 1000003) / 1000003.0) * $3 * interval '1 day') as at) t`,
      [done, count, days, length, body, total],
    )
    done += count
  }
}

const SMALL_EVENT = {
  platform: 'node',
  level: 'error',
  environment: 'production',
  release: 'shop@2.1.0',
  tags: { region: 'eu', tenant: 't7', runtime: 'node' },
  user: { id: 'u7' },
  exception: {
    values: [
      {
        type: 'PaymentError',
        value: 'apply failed for Order',
        stacktrace: { frames: [{ function: 'applyOrder', filename: 'src/order.ts', lineno: 7, in_app: true }] },
      },
    ],
  },
}

/** Log entries of a project over the last days, most of them of low levels, and their counts. */
export async function seedLogs(
  connectionString: string,
  { projectId, entries, days }: { readonly projectId: string; readonly entries: number; readonly days: number },
  progress: (line: string) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    for (let from = 0; from < entries; from += EVENTS_AT_ONCE) {
      const to = Math.min(entries, from + EVENTS_AT_ONCE)
      await client.query(
        `insert into logs (received_day, project_id, id, received_at, occurred_at, level, severity_number, body,
           trace_id, span_id, release, environment, attributes)
         select (at at time zone 'UTC')::date, $1, gen_random_uuid(), at, at,
           case when g % 500 = 0 then 'fatal' when g % 50 < 1 then 'error' when g % 50 < 4 then 'warn'
             when g % 50 < 20 then 'info' else 'debug' end,
           9, 'request ' || g || ' of customer ' || md5(g::text) || ' took ' || g % 900 || ' ms',
           md5((g / 7)::text)::uuid, substr(md5(g::text), 1, 16), 'shop@2.' || g % 12 || '.0', 'production',
           jsonb_build_object('host', jsonb_build_object('value', 'web-' || g % 40, 'type', 'string'),
             'customer', jsonb_build_object('value', 'c' || g % 90000, 'type', 'string'))
         from generate_series($2::int, $3::int - 1) g,
           lateral (select now() - g * ($4 * interval '1 day' / $5) as at) t`,
        [projectId, from, to, days, entries],
      )
      progress(`${to.toLocaleString('en')} of ${entries.toLocaleString('en')} log entries`)
    }
    await client.query(
      `insert into log_counts select project_id, date_trunc('minute', occurred_at), received_day, level, count(*)
       from logs where project_id = $1 group by 1, 2, 3, 4 on conflict do nothing`,
      [projectId],
    )
    await client.query('vacuum analyze logs')
  } finally {
    await client.end()
  }
}
