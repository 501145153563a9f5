import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { median } from '#bench/bench.ts'
import { random } from '#bench/payloads.ts'
import { memoryOfTree, treeOf } from '#bench/process-tree.ts'
import { freePort, type Service, startService } from '#bench/service.ts'
import { addProject, type BenchProject, logIn, setUpProject } from '#bench/setup-project.ts'
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { killNow } from './kill-intake.ts'
import { watchReaders } from './readers.ts'
import { waitUntilDigested } from './target.ts'
import { atLeast, atMost, type Claim, claim, print, type TortureArgs, type Verdict } from './torture.ts'
import { startTrickle, untilDelivered, watchNewIssues } from './trickle.ts'
import { claimsOf, examineDatabase, startWriters } from './writers.ts'

const [SHORT_MINUTES, FULL_MINUTES] = [5, 30]
const WRITERS = 8
/** Between two requests of a writer: about a hundred requests a second in all. */
const PAUSE_MS = 80
/** The first part of the time has kills; memory is compared in the second, when nothing starts. */
const KILLED_SHARE = 0.4
const BETWEEN_KILLS_MS = 25_000
const SAMPLE_EVERY_MS = 2_000
/** Access tokens end after minutes. */
const LOG_IN_EVERY_MS = 120_000
const MAX_GROWTH_MIB = 48
const CHECK_IN_EVERY_MS = 1_000
/** In turn: the service gives up when its database dies more than three times a minute. */
const WAYS = ['kill -9', 'SIGTERM', 'kill -9 of the database'] as const

/** Reads of the dashboard's pages. */
const pagesOf = (projectId: string): string[] => [
  '/api/issues?limit=25',
  '/api/overview?range=7d',
  `/api/performance?projectId=${projectId}&range=7d`,
  '/api/traces',
  '/api/monitors',
  '/api/alerts/fired',
  `/api/releases/health?projectId=${projectId}`,
  '/api/operator/status',
  '/api/me',
]

/**
 * S-02: everything at once for half an hour: errors with sessions and logs, transactions with spans, check-ins, new issues
 * whose alerts go to a webhook, and members who read; kills in the first part. Claim: nothing lost or twice, all counts
 * right, nothing left, and memory does not grow.
 */
export async function soak({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const minutes = Number(options['minutes'] ?? (full ? FULL_MINUTES : SHORT_MINUTES))
  const rand = random(seed)
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const sideFile = join(folder, 'acknowledged.txt')
  const receiver = await startReceiver()
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
    const checkIns = startCheckIns(url, calm)
    parts.push(checkIns)
    let { cookie } = project
    const readers = watchReaders(url, () => cookie, pagesOf(project.projectId))
    parts.push(readers)

    const endMs = performance.now() + minutes * 60_000
    const killUntilMs = performance.now() + minutes * 60_000 * KILLED_SHARE
    let kills = 0
    while (performance.now() < killUntilMs) {
      await delay(BETWEEN_KILLS_MS * (0.5 + rand()))
      const way = WAYS[kills++ % WAYS.length] ?? 'kill -9'
      if (way === 'kill -9 of the database') {
        for (const pid of treeOf(service.pid).reverse()) if (pid !== service.pid) killNow(pid)
      } else {
        await service.stop(way === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL')
        service = await start()
      }
      print(`  ${way}; ${writers.accepted} acknowledged`)
    }
    // A start and the first pages bring much into memory.
    await delay(20_000)
    const samples: number[] = []
    let loggedInMs = Number.NEGATIVE_INFINITY
    while (performance.now() < endMs || samples.length < 8) {
      if (performance.now() - loggedInMs > LOG_IN_EVERY_MS) {
        cookie = await logIn(url)
        loggedInMs = performance.now()
        readers.begin()
      }
      samples.push(nodeMiB(service))
      await delay(SAMPLE_EVERY_MS)
    }
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
      return {
        claims: [
          atLeast('kills', WAYS.length, kills),
          ...claimsOf(writers, found),
          await compareCheckIns(connectionString, calm, sentCheckIns),
          ...delivered,
          growthOf(samples),
          claim(
            'pages are answered when nothing is killed',
            `${read.ok} of ${read.all}, slowest ${Math.round(read.slowestMs)} ms, ${JSON.stringify([...read.others])}`,
            read.ok === read.all,
          ),
          claim('stops as usual', `exit code ${exit}`, exit === 0),
        ],
      }
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

/** Memory of the service without its database, whose shared buffers fill up. */
const nodeMiB = (service: Service): number =>
  memoryOfTree(service.pid)
    .filter(({ command }) => !command.includes('postgres'))
    .reduce((sum, { pssMiB }) => sum + pssMiB, 0)

/** Medians of the first and the last quarter: between two collections memory goes up and down by tens of MiB. */
function growthOf(samples: readonly number[]): Claim {
  const quarter = Math.ceil(samples.length / 4)
  const [first, last] = [median(samples.slice(0, quarter)), median(samples.slice(-quarter))]
  print(
    `  memory of the service: ${Math.round(first)} MiB, then ${Math.round(last)} MiB, highest ${Math.round(Math.max(...samples))}`,
  )
  return atMost('memory of the service grows', MAX_GROWTH_MIB, Math.max(0, last - first), ' MiB')
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
