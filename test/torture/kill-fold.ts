import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { random } from '#bench/payloads.ts'
import { type BenchProject, readMetric } from '#bench/setup-project.ts'
import { SHARDS } from '#server/ingest/spool/entry.ts'
import { runningEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { THREAD_ENDS } from './end-threads.ts'
import { killRepeatedly } from './kill-intake.ts'
import { claim, none, type TortureArgs, type Verdict } from './torture.ts'

/** When the service is killed: a condition on what the database does at that moment. */
const MOMENTS = {
  'between append and fold': 'select count(*)::int as n from issue_journal',
  'during a fold': activity(
    'delete from issue_journal|issue_groups g set|insert into issue_hours|insert into issue_users',
  ),
  'during merging': activity('issue_generations|merged_into'),
  'during unmerging': activity('issue_generations|merged_into'),
} as const
type Moment = keyof typeof MOMENTS
const NAMES = Object.keys(MOMENTS).filter((name): name is Moment => name in MOMENTS)

/** Open transactions that just ran, or are running, such a statement. */
function activity(pattern: string): string {
  return `select count(*)::int as n from pg_stat_activity where state <> 'idle' and pid <> pg_backend_pid() and query ~ '${pattern}'`
}

const MAX_WAIT_MS = 10_000
const MAX_UPTIME_MS = 1_500

/**
 * T-45: kills the service with SIGKILL between append and fold, during a fold, and while a member merges or unmerges
 * issues, under a load that digestion cannot follow. With `--threads=4` so many digest threads run when it is killed, and
 * before it two of them end, each in the middle of its work. Claim: all counts equal a recount from the events, and
 * nothing acknowledged is lost.
 */
export async function killFold(args: TortureArgs): Promise<Verdict> {
  const threads = Number(args.options['threads'] ?? 1)
  const rand = random(args.seed + 1)
  const reached = new Map<Moment, number>()
  let [grown, ended] = [0, 0]
  const { claims, readyMs } = await killRepeatedly(
    {
      ...args,
      writers: threads === 1 ? 64 : 32,
      sizeBytes: 20_000,
      projects: threads === 1 ? 1 : SHARDS,
      env: {
        FAULTLINE_DIGEST_THREADS: String(threads),
        ...(threads === 1 ? {} : { NODE_OPTIONS: `--import=${END_THREADS}` }),
      },
      examineLast: ({ dataDir }) =>
        withClient(dataDir, async (client) => {
          await waitUntilCounted(client)
          return recount(client)
        }),
    },
    { usual: threads === 1 ? 12 : 4, full: 100 },
    (installation, kill) =>
      withClient(installation.service.dataDir, async (client) => {
        const { service, project } = installation
        const moment = NAMES[kill % NAMES.length] ?? 'during a fold'
        let what: string = moment
        if (threads > 1) {
          const isGrown = await growThreads(service.url, client, threads)
          for (let end = 0; end < 2; end++) {
            process.kill(service.pid, 'SIGUSR2')
            await delay(rand() * MAX_UPTIME_MS)
          }
          const ends = service.output().split(THREAD_ENDS).length - 1
          if (isGrown) grown++
          ended += ends
          what += `, ${isGrown ? '' : 'not '}${threads} threads, ${ends} ended`
        }
        const members = membersWork(moment, service.url, project, client, rand)
        if (moment === 'between append and fold') await holdDigestion(service.url, client)
        const isReached = await waitFor(client, MOMENTS[moment])
        process.kill(-service.pid, 'SIGKILL')
        if (isReached) reached.set(moment, (reached.get(moment) ?? 0) + 1)
        await members
        await installation.restart()
        return { what: isReached ? what : `${what}: not reached`, readyMs: installation.service.readyMs }
      }),
  )
  const kills = readyMs.length
  const missed = NAMES.filter((moment) => !reached.has(moment))
  return {
    claims: [
      ...claims,
      claim('every moment is reached', missed.length === 0 ? 'it is' : missed.join(', '), missed.length === 0),
      ...(threads === 1
        ? []
        : [
            claim(`${threads} digest threads before each kill`, `${grown} of ${kills} times`, grown === kills),
            claim('two of them end before each kill', `${ended} ended`, ended === 2 * kills),
          ]),
    ],
  }
}

const END_THREADS = join(import.meta.dirname, 'end-threads.ts')

/** Works on the running database of an installation; the kill may end its connection. */
async function withClient<T>(dataDir: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const running = runningEmbeddedPostgres(dataDir)
  if (running === null) throw new Error('the database does not run')
  const client = new pg.Client({ connectionString: running.connectionString })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** A request that waits for five seconds is late, and threads start while requests are late. */
const LATE_HOLD_MS = 7_000
const MAX_GROW_MS = 120_000

/** Makes requests late until so many threads digest. @returns whether they do in time */
async function growThreads(url: string, client: pg.Client, threads: number): Promise<boolean> {
  const deadline = performance.now() + MAX_GROW_MS
  const isGrown = async (): Promise<boolean> => (await readMetric(url, 'faultline_digest_threads')) >= threads
  while (!(await isGrown())) {
    if (performance.now() > deadline) return false
    await whileHeld(client, () => delay(LATE_HOLD_MS))
    // A thread that starts waits until the first has finished its batch.
    for (let step = 0; step < 30 && !(await isGrown()); step++) await delay(100)
  }
  return true
}

/** Merges two issues, or unmerges one, through the API. The service is killed meanwhile, so no answer is expected. */
async function membersWork(
  moment: Moment,
  url: string,
  { cookie }: BenchProject,
  client: pg.Client,
  rand: () => number,
): Promise<void> {
  if (moment !== 'during merging' && moment !== 'during unmerging') return
  const isMerge = moment === 'during merging'
  const { rows } = await client.query<{ id: string; other: string }>(
    isMerge
      ? 'select a.id, b.id as other from issues a join issues b on a.project_id = b.project_id and a.id <> b.id where a.merged_into is null and b.merged_into is null order by a.number * b.number % $1 limit 1'
      : 'select merged_into as id, id as other from issues where merged_into is not null order by number % $1 limit 1',
    [1 + Math.floor(rand() * 20)],
  )
  const [pair] = rows
  if (pair === undefined) return
  await fetch(`${url}/api/issues/${pair.id}/${isMerge ? 'merge' : 'unmerge'}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, cookie },
    body: JSON.stringify({ issue_ids: [pair.other] }),
  }).catch(() => {})
}

/** Several batches: only while more of them wait, digestion appends and does not fold. */
const BACKLOG_ENTRIES = 1_000
/** Statements of the service end after 30 seconds. */
const MAX_HOLD_MS = 20_000

/** Holds digestion up until rows wait for several batches, however fast it is. */
async function holdDigestion(url: string, client: pg.Client): Promise<void> {
  const deadline = performance.now() + MAX_HOLD_MS
  await whileHeld(client, async () => {
    while ((await readMetric(url, 'faultline_spool_backlog_entries')) < BACKLOG_ENTRIES) {
      if (performance.now() > deadline) return
      await delay(50)
    }
  })
}

/** Digestion waits meanwhile, because it needs a lock on this table. */
async function whileHeld(client: pg.Client, work: () => Promise<unknown>): Promise<void> {
  await client.query('begin')
  await client.query('lock table issue_generations in exclusive mode')
  await work()
  await client.query('commit')
}

/** @returns whether it happened in time */
async function waitFor(client: pg.Client, query: string): Promise<boolean> {
  const deadline = performance.now() + MAX_WAIT_MS
  while (performance.now() < deadline) {
    const { rows } = await client.query<{ n: number }>(query)
    if ((rows[0]?.n ?? 0) > 0) return true
  }
  return false
}

async function waitUntilCounted(client: pg.Client): Promise<void> {
  const deadline = performance.now() + 30_000
  while (await waitForNone(client)) {
    if (performance.now() > deadline) throw new Error('the journal was not folded in time')
    await delay(100)
  }
}

async function waitForNone(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ n: number }>('select count(*)::int as n from issue_journal')
  return (rows[0]?.n ?? 0) > 0
}

/** Compares every count with the stored events. */
async function recount(client: pg.Client) {
  const number = async (query: string): Promise<number> =>
    Number((await client.query<{ n: string }>(`select count(*) as n from (${query}) wrong`)).rows[0]?.n ?? 0)
  return [
    none(
      'groups whose events, hours or users differ from a recount',
      await number(
        `select g.id from issue_groups g
         left join (select issue_id, count(*) as events, count(distinct user_hash) as users from events group by 1) e on e.issue_id = g.id
         left join (select group_id, sum(events) as events from issue_hours group by 1) h on h.group_id = g.id
         left join (select group_id, count(*) as users from issue_users group by 1) u on u.group_id = g.id
         where (g.event_count, g.event_count, g.user_count, g.user_count) is distinct from
           (coalesce(e.events, 0), coalesce(h.events, 0), coalesce(e.users, 0), coalesce(u.users, 0))`,
      ),
    ),
    none(
      'quarters of an hour whose events differ from a recount',
      await number(
        `select from (
           select h.group_id, extract(epoch from h.hour)::int / 900 + v.n as slot, v.events from issue_hours h, lateral (values
             (0, h.events_1), (1, h.events_2), (2, h.events_3), (3, h.events - h.events_1 - h.events_2 - h.events_3)) v (n, events)
           where v.events <> 0
         ) h full join (
           select issue_id, floor(extract(epoch from occurred_at) / 900)::int as slot, count(*) as events from events group by 1, 2
         ) e on e.issue_id = h.group_id and e.slot = h.slot where h.events is distinct from e.events`,
      ),
    ),
    none(
      'groups whose users since a quarter of an hour differ from a recount',
      await number(
        `select from (select distinct slot from issue_user_slots) start, lateral (
           select group_id, sum(users) as users from issue_user_slots where slot >= start.slot and before_slot < start.slot group by 1
         ) s full join lateral (
           select issue_id, count(distinct user_hash) as users from events
           where user_hash is not null and occurred_at >= to_timestamp(start.slot * 900) group by 1
         ) e on e.issue_id = s.group_id where s.users is distinct from e.users`,
      ),
    ),
    none(
      'issues that are not the sum of their groups',
      await number(
        `select i.id from issues i join (
           select g.issue_id, sum(g.event_count) as events, count(*) - 1 as merged, max(g.last_seen) as last_seen from issue_groups g group by 1
         ) g on g.issue_id = i.id
         left join (
           select g.issue_id, count(distinct u.user_hash) as users from issue_groups g join issue_users u on u.group_id = g.id group by 1
         ) u on u.issue_id = i.id
         where (i.event_count, i.user_count, i.merged_count, i.last_seen) is distinct from (g.events, coalesce(u.users, 0), g.merged, g.last_seen)`,
      ),
    ),
    none(
      'issues without a group that are shown, or with one that are hidden',
      await number(
        `select i.id from issues i where (i.merged_into is null) is distinct from exists (select from issue_groups g where g.issue_id = i.id)`,
      ),
    ),
    none(
      'counted minutes that differ from the stored events',
      await number(
        `select from (select sum(events) as n from project_minutes) m, (select count(*) as n from events) e where m.n <> e.n`,
      ),
    ),
  ]
}
