import { randomBytes } from 'node:crypto'
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { median } from '#bench/bench.ts'
import { type BenchEvent, envelopeBody, makeEvents, random } from '#bench/payloads.ts'
import { treeOf } from '#bench/process-tree.ts'
import { type Service, startService } from '#bench/service.ts'
import { type BenchProject, readMetric, setUpProject } from '#bench/setup-project.ts'
import { startEmbeddedPostgres } from '#server/storage/embedded/start.ts'
import type { TortureArgs } from './run.ts'

/** Longest time the service works before it is killed. */
const MOST_UPTIME_MS = 1_500
/** The service stops bringing back a database that dies more than three times a minute, and ends: by design. */
const BETWEEN_DATABASE_KILLS_MS = 20_000
/** security.md part C, T-01 and T-07. */
const READY_GOAL_MS = 3_000
const STOP_GOAL_MS = 10_000

type Writers = {
  /** Where to send; null while the service is down. */
  url: string | null
  stopped: boolean
  accepted: number
  sent: number
  resent: number
  /** By status; 0 counts cut connections. */
  answers: Map<number, number>
}

/**
 * T-01: kills the service with SIGKILL at random moments while writers send, every other time together with its
 * database. Claim: each acknowledged event is stored exactly once and counted exactly once.
 */
export async function killIntake(args: TortureArgs): Promise<boolean> {
  return torture(args, async (installation, kill) => {
    const withDatabase = kill % 2 === 0
    const { service } = installation
    const victims = treeOf(service.pid).filter((pid) => withDatabase || pid === service.pid)
    for (const pid of victims.reverse()) killNow(pid)
    await installation.restart()
    return { what: withDatabase ? 'with its database' : 'service alone', readyMs: installation.service.readyMs }
  })
}

/**
 * T-02: kills only the database. Claim: as {@link killIntake}, and the service lives on and takes events again by
 * itself; meanwhile it answers 503.
 */
export async function killDatabase({ seed, options }: TortureArgs): Promise<boolean> {
  return torture({ seed, options: { kills: '6', ...options } }, async ({ service, writers }, kill) => {
    if (kill > 1) await delay(BETWEEN_DATABASE_KILLS_MS)
    for (const pid of treeOf(service.pid)
      .filter((one) => one !== service.pid)
      .reverse())
      killNow(pid)
    const killedAt = performance.now()
    const before = writers.accepted
    // Some answers may still have been on their way.
    await delay(100)
    const since = Math.max(before, writers.accepted)
    while (writers.accepted === since) {
      if (performance.now() - killedAt > 60_000)
        throw new Error('nothing was acknowledged for a minute after the database was killed')
      await delay(5)
    }
    return { what: 'database alone', readyMs: performance.now() - killedAt }
  })
}

/**
 * T-07: stops the service with SIGTERM under load. Claim: as {@link killIntake}; it ends within 10 s, by itself and
 * with exit code 0, and what was on its way is answered or refused cleanly.
 */
export async function stopIntake(args: TortureArgs): Promise<boolean> {
  let slowestMs = 0
  let notClean = 0
  const holds = await torture(args, async (installation) => {
    const stoppedAt = performance.now()
    const exit = await installation.service.stop()
    const tookMs = performance.now() - stoppedAt
    slowestMs = Math.max(slowestMs, tookMs)
    if (exit !== 0) notClean++
    await installation.restart()
    return { what: `SIGTERM, gone after ${Math.round(tookMs)} ms`, readyMs: installation.service.readyMs }
  })
  print(`stopping: slowest ${Math.round(slowestMs)} ms (goal ≤${STOP_GOAL_MS} ms), exit code other than 0: ${notClean}`)
  return holds && notClean === 0 && slowestMs <= STOP_GOAL_MS
}

type Installation = {
  readonly service: Service
  readonly writers: Writers
  /** Starts the service again after it was killed. */
  restart(): Promise<void>
}

type Kill = (installation: Installation, kill: number) => Promise<{ what: string; readyMs: number }>

/**
 * Writers note each acknowledged id in a file before they go on, and send again what was cut off; in the end the
 * database itself is held against that file.
 */
async function torture({ seed, options }: TortureArgs, killOnce: Kill): Promise<boolean> {
  const kills = Number(options['kills'] ?? 20)
  const writerCount = Number(options['writers'] ?? 8)
  const rand = random(seed)
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const sideFile = join(folder, 'acknowledged.txt')
  const start = (): Promise<Service> => startService({ dataDir, env: { RATE_LIMIT_SCALE: '0', LOG_LEVEL: 'silent' } })
  const installation = { service: await start(), writers: newWriters(), restart: async () => {} }
  const { writers } = installation
  installation.restart = async () => {
    writers.url = null
    await installation.service.stop()
    installation.service = await start()
    writers.url = installation.service.url
  }
  try {
    const project = await setUpProject(installation.service.url)
    writers.url = installation.service.url
    const events = makeEvents({ sizeBytes: 3_000, issues: 50, variantsPerIssue: 2, seed })
    const writing = Array.from({ length: writerCount }, (_, index) =>
      write(writers, project, events, sideFile, random(seed * 1000 + index)),
    )
    const readyMs: number[] = []
    for (let kill = 1; kill <= kills; kill++) {
      await delay(50 + rand() * MOST_UPTIME_MS)
      const killed = await killOnce(installation, kill)
      readyMs.push(killed.readyMs)
      print(
        `kill ${kill}/${kills} (${killed.what}): ready again after ${Math.round(killed.readyMs)} ms, ${writers.accepted} acknowledged so far`,
      )
    }
    await delay(500)
    writers.stopped = true
    await Promise.all(writing)
    await waitUntilDigested(installation.service)
    await installation.service.stop()
    return report(kills, writers, readyMs, await examine(dataDir, sideFile))
  } finally {
    writers.stopped = true
    await installation.service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function report(kills: number, writers: Writers, readyMs: readonly number[], found: Found): boolean {
  print(
    `sent ${writers.sent} (${writers.resent} of them again after a cut), acknowledged ${found.acknowledged}, stored ${found.stored}`,
  )
  print(
    `answers: ${[...writers.answers].map(([status, count]) => `${status === 0 ? 'cut' : status} × ${count}`).join(', ')}`,
  )
  print(
    `acknowledged and lost: ${found.lost}; stored twice: ${found.doubled}; still on the spool: ${found.onSpool}; in quarantine: ${found.quarantined}`,
  )
  print(`events counted by issues: ${found.counted} (stored: ${found.stored})`)
  print(
    `ready again: slowest ${Math.round(Math.max(...readyMs))} ms, median ${Math.round(median(readyMs))} ms (goal ≤${READY_GOAL_MS} ms)`,
  )
  const holds =
    found.acknowledged > 0 &&
    found.lost === 0 &&
    found.doubled === 0 &&
    found.onSpool === 0 &&
    found.quarantined === 0 &&
    found.counted === found.stored
  print(
    holds
      ? `OK: ${kills} kills, 0 of ${found.acknowledged} acknowledged events lost, 0 twice`
      : 'the claim does not hold',
  )
  return holds
}

const newWriters = (): Writers => ({ url: null, stopped: false, accepted: 0, sent: 0, resent: 0, answers: new Map() })

async function write(
  writers: Writers,
  project: BenchProject,
  events: readonly BenchEvent[],
  sideFile: string,
  rand: () => number,
): Promise<void> {
  let agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let cutOff: string | null = null
  while (!writers.stopped) {
    const { url } = writers
    const event = events[Math.floor(rand() * events.length)]
    if (url === null || event === undefined) {
      await delay(10)
      continue
    }
    if (cutOff !== null) writers.resent++
    const id: string = cutOff ?? randomBytes(16).toString('hex')
    writers.sent++
    const status = await post(agent, url, project, envelopeBody(event, id))
    writers.answers.set(status, (writers.answers.get(status) ?? 0) + 1)
    if (status === 200) {
      // Before anything else happens: this line is what the claim is held against.
      appendFileSync(sideFile, `${id}\n`)
      writers.accepted++
      cutOff = null
    } else {
      cutOff = id
      agent.destroy()
      agent = new Agent({ keepAlive: true, maxSockets: 1 })
      await delay(20)
    }
  }
  agent.destroy()
}

/** @returns the status, 0 when the connection broke before an answer */
function post(agent: Agent, url: string, { number, publicKey }: BenchProject, body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const request = httpRequest(
      `${url}/api/${number}/envelope/?sentry_key=${publicKey}&sentry_version=7`,
      {
        method: 'POST',
        agent,
        headers: { 'content-encoding': 'gzip', 'content-length': body.length },
        timeout: 20_000,
      },
      (response) => {
        response.resume()
        // Only a whole answer counts: a client that saw half of one knows nothing.
        response.on('end', () => resolve(response.complete ? (response.statusCode ?? 0) : 0))
        response.on('error', () => resolve(0))
      },
    )
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(0))
    request.end(body)
  })
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone already: a parent's end takes some children along.
  }
}

async function waitUntilDigested(service: Service): Promise<void> {
  const deadline = performance.now() + 120_000
  while ((await readMetric(service.url, 'faultline_spool_backlog_entries')) > 0 && performance.now() < deadline)
    await delay(100)
}

type Found = {
  acknowledged: number
  stored: number
  lost: number
  doubled: number
  onSpool: number
  quarantined: number
  counted: number
}

/** Looks into the database itself, not through the service. */
async function examine(dataDir: string, sideFile: string): Promise<Found> {
  const acknowledged = readFileSync(sideFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} })
  const client = new pg.Client({ connectionString: postgres.connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: string; times: number }>(
      `select replace(event_id::text, '-', '') as id, count(*)::int as times from events group by 1`,
    )
    const times = new Map(rows.map((row) => [row.id, row.times]))
    const number = async (query: string): Promise<number> =>
      Number((await client.query<{ n: string }>(query)).rows[0]?.n ?? 0)
    return {
      acknowledged: acknowledged.length,
      stored: rows.reduce((sum, row) => sum + row.times, 0),
      lost: acknowledged.filter((id) => !times.has(id)).length,
      doubled: rows.filter((row) => row.times > 1).length,
      onSpool: await number('select coalesce(sum(entry_count), 0) as n from spool'),
      quarantined: await number('select count(*) as n from spool_quarantine'),
      counted: await number('select coalesce(sum(event_count), 0) as n from issues'),
    }
  } finally {
    await client.end()
    await postgres.stop()
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
