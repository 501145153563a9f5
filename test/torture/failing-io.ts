import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { treeOf } from '#bench/process-tree.ts'
import { startService } from '#bench/service.ts'
import { setUpProject } from '#bench/setup-project.ts'
import { type IoFault, type IoShim, installShim, whyNoShim } from './io-shim.ts'
import { tryOwnFiles } from './own-files.ts'
import { type Readers, watchReaders } from './readers.ts'
import { waitUntilDigested } from './target.ts'
import { atMost, type Claim, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'
import { claimsOf, examine, startWriters, type Writers } from './writers.ts'

const FAULTS: readonly IoFault[] = [
  { call: 'sync', files: 'log', error: 'EIO' },
  { call: 'write', files: 'log', error: 'ENOSPC' },
  { call: 'write', files: 'log', error: 'EIO' },
  { call: 'write', files: 'any', error: 'short' },
  { call: 'write', files: 'data', error: 'ENOSPC' },
  { call: 'sync', files: 'data', error: 'EIO' },
  { call: 'open', files: 'any', error: 'EMFILE' },
]
const MAX_N = 50
/** The numbers n of the default form, which should take a minute. */
const FEW = [1, 3, 10]
const REACH_MS = 4_000
const BACK_GOAL_S = 10

/**
 * T-04: the n-th write, sync or open fails, of our own files (through a faulty fs) and of PostgreSQL's (through a
 * preloaded library, which also discards what a failed sync did not make durable). Claim: everything acknowledged is
 * there afterwards, and the service continues when the disk works again.
 */
export async function failingIo(args: TortureArgs): Promise<Verdict> {
  const most = Number(args.options['most'] ?? MAX_N)
  const own = await tryOwnFiles(most)
  for (const line of own.wrong.slice(0, 20)) print(`  ${line}`)
  const claims = [
    claim(
      `our own files, n = 1…${most}: complete or an error`,
      `${own.reached} faults`,
      own.wrong.length === 0 && own.reached > 0,
    ),
  ]
  const why = whyNoShim()
  if (why !== null) return { claims, skipped: `PostgreSQL's files: ${why}` }
  const ns = args.full ? Array.from({ length: most }, (_, index) => index + 1) : FEW
  return { claims: [...claims, ...(await tryDatabaseFiles(args, ns))] }
}

async function tryDatabaseFiles({ seed }: TortureArgs, ns: readonly number[]): Promise<Claim[]> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-io-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const sideFile = join(folder, 'acknowledged.txt')
  const shim = installShim(folder)
  const service = await startService({
    checkout: shim.checkout,
    dataDir,
    env: { RATE_LIMIT_SCALE: '0', FAULTLINE_CANARY_MINUTES: '0', LOG_LEVEL: 'silent' },
  })
  let writers: Writers | null = null
  const control = new pg.Pool({
    connectionString: `postgresql://faultline@localhost:5432/faultline?host=${encodeURIComponent(join(dataDir, 'run'))}`,
    max: 2,
    connectionTimeoutMillis: 1_000,
  })
  control.on('error', () => {})
  try {
    const project = await setUpProject(service.url)
    writers = startWriters(project, { count: 6, seed, sideFile, url: service.url })
    const readers = watchReaders(service.url, project.cookie)
    await delay(1_000)
    let [reached, slowestS, slowestReadS] = [0, 0, 0]
    for (const fault of FAULTS) {
      let hit = 0
      for (const n of ns) {
        const hitAt = await failOnce(shim, control, fault, n)
        if (hitAt === null) continue
        hit++
        const [backS, readS] = await recovered(hitAt, writers, readers)
        slowestS = Math.max(slowestS, backS)
        slowestReadS = Math.max(slowestReadS, readS)
      }
      reached += hit
      print(
        `  ${fault.call} of ${fault.files} files, ${fault.error}: ${hit} of ${ns.length} reached, ${writers.accepted} acknowledged`,
      )
    }
    shim.disarm()
    readers.stop()
    writers.stopped = true
    await writers.done
    await waitUntilDigested(service.url)
    const alive = treeOf(service.pid).length > 1
    await control.end()
    const exit = await service.stop()
    const found = await examine(dataDir, sideFile)
    return [
      claim(
        `PostgreSQL's files: ${FAULTS.length} faults, n = ${ns[0]}…${ns.at(-1)}`,
        `${reached} of ${FAULTS.length * ns.length} reached`,
        reached > 0,
      ),
      ...claimsOf(writers, found),
      none('tables that cannot be read', found.unreadable),
      atMost('acknowledges again after a fault', BACK_GOAL_S, slowestS, ' s'),
      atMost('members can read again after a fault', BACK_GOAL_S, slowestReadS, ' s'),
      claim(
        'the service keeps running and stops as usual',
        `${alive ? 'alive' : 'gone'}, exit code ${exit}`,
        alive && exit === 0,
      ),
    ]
  } finally {
    if (writers !== null) writers.stopped = true
    shim.disarm()
    await control.end().catch(() => {})
    await service.stop().catch(() => {})
    shim.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns when the call failed, by performance.now(); null when there was no n-th call of that kind */
async function failOnce(shim: IoShim, control: pg.Pool, fault: IoFault, n: number): Promise<number | null> {
  const before = shim.hits()
  shim.arm(fault, n)
  // Data files are written and synced by a checkpoint; its result does not matter here.
  if (fault.files !== 'log') void control.query('checkpoint').catch(() => {})
  const armedAt = performance.now()
  while (shim.hits() === before && performance.now() - armedAt < REACH_MS) await delay(2)
  shim.disarm()
  return shim.hits() === before ? null : performance.now()
}

/** @returns seconds from the fault to the next acknowledgement, and to the next page that loaded */
async function recovered(hitAt: number, writers: Writers, readers: Readers): Promise<[number, number]> {
  // Responses on their way may be older than the fault.
  await delay(50)
  const [since, from] = [writers.accepted, performance.now()]
  const times = { writing: 0, reading: 0 }
  while (times.writing === 0 || times.reading === 0) {
    const now = performance.now()
    if (times.writing === 0 && writers.accepted > since) times.writing = now - hitAt
    if (times.reading === 0 && readers.lastOkMs() > from) times.reading = now - hitAt
    if (now - hitAt > 60_000) throw new Error('nothing was acknowledged, or read, for a minute after a fault')
    await delay(5)
  }
  return [times.writing / 1000, times.reading / 1000]
}
