import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { treeOf } from '#bench/process-tree.ts'
import { startService } from '#bench/service.ts'
import { setUpProject } from '#bench/setup-project.ts'
import { compileShim, type IoControl, type IoFault, installShim, openControl, preloaded, whyNoShim } from './io-shim.ts'
import { killNow, killRepeatedly } from './kill-intake.ts'
import { tryOwnFiles } from './own-files.ts'
import { type Readers, watchReaders } from './readers.ts'
import { QUIET, waitUntilDigested } from './target.ts'
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
/** Calls on the spool's file: when it is written, and when the service starts, which prepares it. */
const SPOOL_FAULTS: readonly (IoFault & { readonly atStart?: true })[] = [
  { call: 'write', files: 'spool', error: 'EIO' },
  { call: 'write', files: 'spool', error: 'ENOSPC' },
  { call: 'write', files: 'spool', error: 'short' },
  { call: 'sync', files: 'spool', error: 'EIO' },
  { call: 'open', files: 'spool', error: 'EMFILE', atStart: true },
  { call: 'write', files: 'spool', error: 'ENOSPC', atStart: true },
  { call: 'sync', files: 'spool', error: 'EIO', atStart: true },
]
const MAX_N = 50
/** The numbers n of the default form, which should take a minute. */
const FEW = [1, 3, 10]
const REACH_MS = 4_000
const BACK_GOAL_S = 10

/**
 * T-04: the n-th write, sync or open fails, of our own files (through a faulty fs), and of PostgreSQL's and those of the
 * spool (through a preloaded library, which also discards what a failed sync did not make durable). Claim: everything acknowledged is
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
  if (why !== null) return { claims, skipped: `the files of PostgreSQL and of the spool: ${why}` }
  const ns = args.full ? Array.from({ length: most }, (_, index) => index + 1) : FEW
  claims.push(...(await tryDatabaseFiles(args, ns)))
  if (process.env['FAULTLINE_SPOOL_FILE'] !== 'off') claims.push(...(await trySpoolFiles(args, ns)))
  return { claims }
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
    env: QUIET,
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
        const hits = shim.hits()
        shim.arm(fault, n)
        // Data files are written and synced by a checkpoint; its result does not matter here.
        if (fault.files !== 'log') void control.query('checkpoint').catch(() => {})
        const hitAt = await waitForHit(shim, hits)
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

/**
 * The same for the spool's file. A service gives the file up when a call fails, so each fault has a new start, every other
 * one after a kill: it finds what the failed call left.
 */
async function trySpoolFiles(args: TortureArgs, ns: readonly number[]): Promise<Claim[]> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-io-'))
  const path = join(folder, 'io-shim.control')
  const control = openControl(path)
  const faults = SPOOL_FAULTS.flatMap((fault) => (fault.atStart ? [1] : ns).map((n) => ({ ...fault, n })))
  let [reached, ended, slowestS] = [0, 0, 0]
  try {
    const { claims } = await killRepeatedly(
      { ...args, env: preloaded(compileShim(folder, 'io-shim.c'), path) },
      { usual: faults.length, full: faults.length },
      async (installation, round) => {
        const { service, writers } = installation
        const fault = faults[(round - 1) % faults.length]
        if (fault === undefined) throw new Error('no fault')
        const startAgain = async (): Promise<void> => {
          if (treeOf(service.pid).length === 1) ended++
          if (round % 2 === 0) killNow(service.pid)
          await service.stop()
          control.reset()
          if (fault.atStart) control.arm(fault, fault.n)
          await installation.restart()
        }
        if (fault.atStart) await startAgain()
        else control.arm(fault, fault.n)
        const hitAt = await waitForHit(control, 0)
        if (hitAt !== null) {
          reached++
          slowestS = Math.max(slowestS, (await recovered(hitAt, writers, null))[0])
        }
        if (!fault.atStart) await startAgain()
        const what = `${fault.atStart ? 'start, ' : ''}${fault.call} ${fault.n} of the spool, ${fault.error}`
        return {
          what: hitAt === null ? `${what}: not reached` : what,
          readyMs: installation.service.readyMs,
        }
      },
    )
    return [
      claim(`files of the spool: ${faults.length} faults`, `${reached} reached`, reached > 0),
      ...claims,
      atMost('acknowledges again after a fault', BACK_GOAL_S, slowestS, ' s'),
      none('ends of the service', ended),
    ]
  } finally {
    control.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns when the call failed, by performance.now(); null when there was no n-th call of that kind */
async function waitForHit(control: IoControl, before: number): Promise<number | null> {
  const armedAt = performance.now()
  while (control.hits() === before && performance.now() - armedAt < REACH_MS) await delay(2)
  control.disarm()
  return control.hits() === before ? null : performance.now()
}

/** @returns seconds from the fault to the next acknowledgement, and to the next page that loaded */
async function recovered(hitAt: number, writers: Writers, readers: Readers | null): Promise<[number, number]> {
  // Responses on their way may be older than the fault.
  await delay(50)
  const [since, from] = [writers.accepted, performance.now()]
  const times = { writing: 0, reading: 0 }
  while (times.writing === 0 || (readers !== null && times.reading === 0)) {
    const now = performance.now()
    if (times.writing === 0 && writers.accepted > since) times.writing = now - hitAt
    if (times.reading === 0 && (readers?.lastOkMs() ?? 0) > from) times.reading = now - hitAt
    if (now - hitAt > 60_000) throw new Error('nothing was acknowledged, or read, for a minute after a fault')
    await delay(5)
  }
  return [times.writing / 1000, times.reading / 1000]
}
