import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { median } from '#bench/bench.ts'
import { Histogram } from '#bench/load.ts'
import { random } from '#bench/payloads.ts'
import { treeOf } from '#bench/process-tree.ts'
import { type Service, startService } from '#bench/service.ts'
import { addProject, type BenchProject, logIn, setUpProject } from '#bench/setup-project.ts'
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { freePort } from '#test/kit/free-port.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { type Collector, createCollector } from './collect-garbage.ts'
import { killNow } from './kill-intake.ts'
import { type Readers, watchReaders } from './readers.ts'
import { residentMiB, waitUntilDigested } from './target.ts'
import { atLeast, type Claim, claim, print, type TortureArgs, type Verdict } from './torture.ts'
import { startTrickle, untilDelivered, watchNewIssues } from './trickle.ts'
import { claimsOf, examineDatabase, startWriters, type Writers } from './writers.ts'

const [SHORT_MINUTES, FULL_MINUTES] = [5, 30]
const WRITERS = 8
/** Between two requests of a writer: about a hundred requests a second in all. */
const PAUSE_MS = 80
/** The first part of the time has kills; the second, when nothing starts, is compared with itself. */
const KILLED_SHARE = 0.4
const BETWEEN_KILLS_MS = 25_000
/** A start and the first pages bring much into memory: of the part without kills, so much is not compared. */
const WARM_UP_SHARE = 1 / 3
const SAMPLE_EVERY_MS = 15_000
/** Access tokens end after minutes. */
const LOG_IN_EVERY_MS = 120_000
const CHECK_IN_EVERY_MS = 1_000
/** Goals of T-42: less than a MiB an hour can be seen after hours only. */
const LONG_MINUTES = 600
const [MAX_SLOPE_MIB_PER_HOUR, MAX_GROWTH_MIB] = [1, 32]
const MAX_HANDLES = 8
const [MAX_DRIFT, MIN_DRIFT_MS] = [1.1, 50]

/** Reads of the dashboard's pages. */
const pagesOf = ({ projectId }: BenchProject): string[] => [
  '/api/issues?limit=25',
  '/api/overview',
  `/api/performance?projectId=${projectId}`,
  '/api/traces',
  '/api/monitors',
  '/api/alerts/fired',
  `/api/releases/health?projectId=${projectId}`,
  '/api/operator/status',
  '/api/me',
]

/**
 * T-42: everything at once: errors with sessions and logs, transactions with spans, check-ins, new issues whose alerts go to a
 * webhook, and members who read; kills in the first part. Claim: nothing lost or twice, all counts right, nothing left; without
 * kills neither the memory that is in use nor the number of open files grows, and requests take as long as before.
 */
export async function soak({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const minutes = Number(options['minutes'] ?? (full ? FULL_MINUTES : SHORT_MINUTES))
  const rand = random(seed)
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const sideFile = join(folder, 'acknowledged.txt')
  const receiver = await startReceiver()
  const collector = await createCollector()
  const port = await freePort()
  const start = (): Promise<Service> =>
    startService({
      dataDir,
      port,
      env: {
        RATE_LIMIT_SCALE: '0',
        FAULTLINE_CANARY_MINUTES: '0',
        EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
        EGRESS_ALLOW_HTTP: '1',
        LOG_LEVEL: 'silent',
        ...collector.env,
      },
    })
  let service = await start()
  const { url } = service
  const parts: { stop(): unknown }[] = []
  try {
    const project = await setUpProject(url)
    const calm = await addProject(url, project.cookie, 'Calm')
    await watchNewIssues(url, calm, receiver)
    const writers = startWriters(project, { count: WRITERS, seed, sideFile, url, pauseMs: PAUSE_MS })
    parts.push({ stop: () => (writers.stopped = true) })
    const trickle = startTrickle(calm, () => [url])
    parts.push({ stop: () => trickle.abandon() })
    const checkIns = startCheckIns(url, calm)
    parts.push(checkIns)
    let { cookie } = project
    const readers = watchReaders(url, () => cookie, pagesOf(project))
    parts.push(readers)

    const endMs = performance.now() + minutes * 60_000
    const killUntilMs = performance.now() + minutes * 60_000 * KILLED_SHARE
    const ways = { 'kill -9': 0, 'kill -9 of the database': 0, SIGTERM: 0 }
    while (performance.now() < killUntilMs) {
      await delay(BETWEEN_KILLS_MS * (0.5 + rand()))
      const way = (['kill -9', 'SIGTERM', 'kill -9 of the database'] as const)[Math.floor(rand() * 3)] ?? 'kill -9'
      ways[way]++
      if (way === 'kill -9 of the database') {
        for (const pid of treeOf(service.pid).reverse()) if (pid !== service.pid) killNow(pid)
      } else {
        await service.stop(way === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL')
        service = await start()
      }
      print(`  ${way}; ${writers.accepted} acknowledged`)
    }
    const steady = await watchCalmPart({
      service: () => service,
      collector,
      writers,
      readers,
      endMs,
      logIn: async () => {
        cookie = await logIn(url)
      },
    })
    const read = readers.end()
    readers.stop()
    writers.stopped = true
    await writers.done
    const sentCheckIns = await checkIns.stop()
    const problems = await trickle.stop()
    await waitUntilDigested(url)
    const running = runningEmbeddedPostgres(dataDir)
    if (running === null) throw new Error('the database does not run')
    const delivered = await untilDelivered(running.connectionString, calm, receiver, problems)
    const exit = await service.stop('SIGTERM')

    const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} })
    try {
      const { connectionString } = postgres
      const found = await examineDatabase(connectionString, sideFile, calm.projectId)
      const claims = [
        atLeast(
          'kills',
          1,
          Object.values(ways).reduce((sum, n) => sum + n, 0),
        ),
        ...claimsOf(writers, found),
        await compareCheckIns(connectionString, calm, sentCheckIns),
        ...delivered,
        ...claimsOfSamples(steady),
        claim(
          'pages are answered when nothing is killed',
          `${read.ok} of ${read.all}, slowest ${Math.round(read.slowestMs)} ms, ${JSON.stringify([...read.others])}`,
          read.ok === read.all,
        ),
        claim('stops as usual', `exit code ${exit}`, exit === 0),
      ]
      const failed = claims.filter(({ holds }) => !holds)
      print(
        `soak of ${minutes} min: ${failed.length === 0 ? `all ${claims.length} claims held` : `FAILED: ${failed.map(({ asked, measured }) => `${asked} (${measured})`).join('; ')}`}`,
      )
      return { claims }
    } finally {
      await postgres.stop()
    }
  } finally {
    for (const part of parts) part.stop()
    await service.stop('SIGKILL').catch(() => null)
    await receiver.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}

/** Figures of the part without kills, at its begin and its end. */
type Steady = {
  readonly hours: number
  /** In use after a collection. */
  readonly memoryMiB: readonly [number, number]
  readonly handles: readonly [number, number]
  readonly p99Ms: readonly [number, number]
}

/** Watches the part without kills, and prints a line each minute. */
async function watchCalmPart(parts: {
  service(): Service
  collector: Collector
  writers: Writers
  readers: Readers
  endMs: number
  logIn(): Promise<void>
}): Promise<Steady> {
  const { collector, writers, readers, endMs } = parts
  const { pid } = parts.service()
  await delay(Math.max(0, endMs - performance.now()) * WARM_UP_SHARE)
  await parts.logIn()
  readers.begin()
  const settled = async (): Promise<number> => {
    const values: number[] = []
    while (values.length < 3) values.push(await collector.settledMiB(pid))
    return median(values)
  }
  const startedMs = performance.now()
  const before = await settled()
  const samples: { readonly handles: number; readonly p99Ms: number }[] = []
  let [loggedInMs, printedMs] = [startedMs, startedMs]
  while (performance.now() < endMs || samples.length < 8) {
    writers.latency = new Histogram()
    await delay(SAMPLE_EVERY_MS)
    samples.push({ handles: handlesOf(pid), p99Ms: writers.latency.percentile(99) })
    const nowMs = performance.now()
    if (nowMs - loggedInMs > LOG_IN_EVERY_MS) {
      await parts.logIn()
      loggedInMs = nowMs
    }
    if (nowMs - printedMs < 60_000) continue
    printedMs = nowMs
    const last = samples.at(-1)
    print(
      `  ${Math.round((endMs - nowMs) / 60_000)} min left: ${writers.accepted} acknowledged, p99 ${Math.round(last?.p99Ms ?? 0)} ms, ${last?.handles} handles, ${Math.round(residentMiB(pid))} MiB, load ${loadavg()[0]?.toFixed(1)}`,
    )
  }
  const after = await settled()
  const quarter = Math.ceil(samples.length / 4)
  const ends = (of: (sample: (typeof samples)[number]) => number): [number, number] => [
    median(samples.slice(0, quarter).map(of)),
    median(samples.slice(-quarter).map(of)),
  ]
  return {
    hours: (performance.now() - startedMs) / 3_600_000,
    memoryMiB: [before, after],
    handles: ends(({ handles }) => handles),
    p99Ms: ends(({ p99Ms }) => p99Ms),
  }
}

/** Open files and sockets of the service, and the processes that it started, such as those of its database's connections. */
const handlesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length + treeOf(pid).length

function claimsOfSamples({ hours, memoryMiB, handles, p99Ms }: Steady): Claim[] {
  const growth = memoryMiB[1] - memoryMiB[0]
  const isLong = hours * 60 >= LONG_MINUTES
  const fromTo = ([from, to]: readonly [number, number], unit: string): string =>
    `${Math.round(from)} → ${Math.round(to)}${unit}`
  const slope = growth / hours
  return [
    claim(
      isLong
        ? `memory grows ≤${MAX_SLOPE_MIB_PER_HOUR} MiB an hour`
        : `memory grows ≤${MAX_GROWTH_MIB} MiB in ${Math.round(hours * 60)} min`,
      `${fromTo(memoryMiB, ' MiB')}, ${slope.toFixed(1)} MiB an hour`,
      isLong ? slope <= MAX_SLOPE_MIB_PER_HOUR : growth <= MAX_GROWTH_MIB,
    ),
    claim(`handles grow ≤${MAX_HANDLES}`, fromTo(handles, ''), handles[1] - handles[0] <= MAX_HANDLES),
    claim(
      `p99 drifts ≤10 % or ${MIN_DRIFT_MS} ms`,
      fromTo(p99Ms, ' ms'),
      p99Ms[1] <= Math.max(p99Ms[0] * MAX_DRIFT, p99Ms[0] + MIN_DRIFT_MS),
    ),
  ]
}

type SentCheckIns = { readonly acknowledged: number; readonly sent: number }

/** A job that runs all the time and says so. */
function startCheckIns(url: string, { number, publicKey }: BenchProject) {
  let isOver = false
  let [acknowledged, sent] = [0, 0]
  const work = (async () => {
    while (!isOver) {
      const checkIn = {
        check_in_id: crypto.randomUUID(),
        monitor_slug: 'soak',
        status: 'ok',
        monitor_config: { schedule: { type: 'interval', value: 1, unit: 'minute' }, checkin_margin: 10 },
      }
      sent++
      const answer = await fetch(`${url}/api/${number}/envelope/?sentry_key=${publicKey}&sentry_version=7`, {
        method: 'POST',
        body: `{}\n{"type":"check_in"}\n${JSON.stringify(checkIn)}`,
      }).catch(() => null)
      if (answer?.status === 200) acknowledged++
      await delay(CHECK_IN_EVERY_MS)
    }
  })()
  return {
    async stop(): Promise<SentCheckIns> {
      isOver = true
      await work
      return { acknowledged, sent }
    },
  }
}

/** A request that was cut off may have been accepted. */
async function compareCheckIns(
  connectionString: string,
  { projectId }: BenchProject,
  { acknowledged, sent }: SentCheckIns,
): Promise<Claim> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query<{ n: number }>(
    `select coalesce(sum(quantity), 0)::int as n from outcomes_hourly
     where project_id = $1 and category = 'monitor' and outcome = 'accepted'`,
    [projectId],
  )
  await client.end()
  const stored = rows[0]?.n ?? 0
  return claim(
    'each check-in that was acknowledged is counted',
    `${stored} of ${acknowledged}, ${sent} sent`,
    acknowledged > 0 && stored >= acknowledged && stored <= sent,
  )
}
