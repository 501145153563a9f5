import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { median } from '#bench/bench.ts'
import { random } from '#bench/payloads.ts'
import { treeOf } from '#bench/process-tree.ts'
import { type Service, startService } from '#bench/service.ts'
import { addProject, type BenchProject, setUpProject } from '#bench/setup-project.ts'
import { QUIET, waitUntilDigested } from './target.ts'
import { atMost, type Claim, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'
import { claimsOf, examine, startWriters, type Writers } from './writers.ts'

/** Longest time the service works before it is killed. */
const MAX_UPTIME_MS = 1_500
/**
 * Large requests fill the segments of the spool's file, 8 MiB each, sooner. The pauses let digestion follow: otherwise most
 * requests take the table.
 */
export const LARGE = { padBytes: 60_000, pauseMs: 40, maxUptimeMs: 5_000 } as const
/** Much may wait at the end, and the machine may be busy. */
const MAX_DIGESTION_MS = 600_000
/** By design the service gives up and exits when its database dies more than three times a minute. */
const BETWEEN_DATABASE_KILLS_MS = 20_000
const FREE_DATABASE_KILLS = 3
/** T-01 and T-07 of docs/reliability.md. */
const READY_GOAL_MS = 3_000
const STOP_GOAL_MS = 10_000

/**
 * T-01: kills the service with SIGKILL at random moments while writers send, every other time together with its
 * database. Claim: each acknowledged event is stored and counted exactly once, and every item has an outcome.
 */
export async function killIntake(args: TortureArgs): Promise<Verdict> {
  const counts = { usual: 12, full: 100 }
  const verdict = await killRepeatedly({ ...args, ...LARGE }, counts, async (installation, kill) => {
    const withDatabase = kill % 2 === 0
    const { service } = installation
    const victims = treeOf(service.pid).filter((pid) => withDatabase || pid === service.pid)
    for (const pid of victims.reverse()) killNow(pid)
    await installation.restart()
    return { what: withDatabase ? 'with its database' : 'service alone', readyMs: installation.service.readyMs }
  })
  return { claims: [...verdict.claims, ready(verdict)] }
}

/**
 * T-02: kills only the database. Claim: as {@link killIntake}; the service keeps running, answers 503 with Retry-After
 * meanwhile, and accepts events again by itself.
 */
export async function killDatabase(args: TortureArgs): Promise<Verdict> {
  let livedOn = true
  const verdict = await killRepeatedly(args, { usual: 3, full: 30 }, async ({ service, writers }, kill, kills) => {
    if (kill > 1 && kills > FREE_DATABASE_KILLS) await delay(BETWEEN_DATABASE_KILLS_MS)
    for (const one of treeOf(service.pid)
      .filter((victim) => victim !== service.pid)
      .reverse())
      killNow(one)
    const killedAt = performance.now()
    const before = writers.accepted
    // Some responses may still have been on their way.
    await delay(100)
    const since = Math.max(before, writers.accepted)
    while (writers.accepted === since) {
      if (performance.now() - killedAt > 60_000)
        throw new Error('nothing was acknowledged for a minute after the database was killed')
      await delay(5)
    }
    livedOn &&= treeOf(service.pid).length > 1
    return { what: 'database alone', readyMs: performance.now() - killedAt }
  })
  return {
    claims: [
      ...verdict.claims,
      ready(verdict),
      claim('the service keeps running', livedOn ? 'it does' : 'it exited', livedOn),
    ],
  }
}

/**
 * T-07: stops the service with SIGTERM under load. Claim: as {@link killIntake}; it ends within 10 s with exit code 0,
 * and requests under way are answered or refused cleanly.
 */
export async function stopIntake(args: TortureArgs): Promise<Verdict> {
  let slowestMs = 0
  let notClean = 0
  let cutMidway = 0
  const verdict = await killRepeatedly(args, { usual: 12, full: 50 }, async (installation) => {
    const stoppedAt = performance.now()
    installation.writers.stoppingAtMs = stoppedAt
    const exit = await installation.service.stop('SIGTERM')
    const tookMs = performance.now() - stoppedAt
    slowestMs = Math.max(slowestMs, tookMs)
    if (exit !== 0) notClean++
    ;({ cutMidway } = installation.writers)
    await installation.restart()
    return { what: `SIGTERM, ended after ${Math.round(tookMs)} ms`, readyMs: installation.service.readyMs }
  })
  return {
    claims: [
      ...verdict.claims,
      atMost('gone after SIGTERM', STOP_GOAL_MS, slowestMs, ' ms'),
      none('exit codes other than 0', notClean),
      none('requests under way cut off', cutMidway),
    ],
  }
}

export type Installation = {
  readonly service: Service
  readonly writers: Writers
  readonly project: BenchProject
  /** Starts the service again after it was killed. */
  restart(): Promise<void>
}

type KillArgs = TortureArgs & {
  readonly checkout?: string
  /** Settings of the service, beside the usual ones. */
  readonly env?: Readonly<Record<string, string>>
  /** Default: 8. */
  readonly writers?: number
  readonly sizeBytes?: number
  readonly padBytes?: number
  readonly pauseMs?: number
  readonly maxUptimeMs?: number
  /** To which the writers send; default: 1. */
  readonly projects?: number
  /** Further claims, from the service that runs when everything is digested. */
  readonly examineLast?: (service: Service) => Promise<readonly Claim[]>
}

type Kill = (installation: Installation, kill: number, kills: number) => Promise<{ what: string; readyMs: number }>

/** Kills repeatedly under load; in the end compares the database with what was acknowledged. */
export async function killRepeatedly(
  { seed, full, options, checkout, env, writers: count = 8, projects = 1, examineLast, ...load }: KillArgs,
  counts: { usual: number; full: number },
  killOnce: Kill,
): Promise<Outcome> {
  const kills = Number(options['kills'] ?? (full ? counts.full : counts.usual))
  const rand = random(seed)
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const sideFile = join(folder, 'acknowledged.txt')
  const start = (): Promise<Service> =>
    startService({
      ...(checkout === undefined ? {} : { checkout }),
      dataDir,
      // A start that fails tells why.
      env: { ...QUIET, LOG_LEVEL: 'warn', ...env },
    })
  let service = await start()
  // The time of a start on this machine at this moment: after a first one, which created the database, and a clean
  // stop.
  await service.stop()
  service = await start()
  const cleanMs = service.readyMs
  let writers: Writers | null = null
  try {
    const project = await setUpProject(service.url)
    const all = [project]
    while (all.length < projects) all.push(await addProject(service.url, project.cookie, `Load ${all.length}`))
    const writing = startWriters(all, {
      count: Number(options['writers'] ?? count),
      ...load,
      seed,
      sideFile,
      url: service.url,
    })
    writers = writing
    const restart = async (): Promise<void> => {
      writing.url = null
      await service.stop()
      service = await start()
      writing.stoppingAtMs = Number.POSITIVE_INFINITY
      writing.url = service.url
    }
    const readyMs: number[] = []
    for (let kill = 1; kill <= kills; kill++) {
      await delay(50 + rand() * (load.maxUptimeMs ?? MAX_UPTIME_MS))
      const installation = {
        get service() {
          return service
        },
        writers: writing,
        project,
        restart,
      }
      const killed = await killOnce(installation, kill, kills)
      readyMs.push(killed.readyMs)
      print(
        `  kill ${kill}/${kills} (${killed.what}): ready again after ${Math.round(killed.readyMs)} ms, ${writing.accepted} acknowledged so far`,
      )
    }
    await delay(500)
    writing.stopped = true
    await writing.done
    await waitUntilDigested(service.url, MAX_DIGESTION_MS)
    const last = (await examineLast?.(service)) ?? []
    await service.stop()
    return { claims: [...claimsOf(writing, await examine(dataDir, sideFile)), ...last], readyMs, cleanMs }
  } finally {
    if (writers !== null) writers.stopped = true
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Outcome = Verdict & { readonly readyMs: readonly number[]; readonly cleanMs: number }

const ready = ({ readyMs, cleanMs }: Outcome): Claim =>
  claim(
    `ready again ≤${READY_GOAL_MS} ms, ${readyMs.length} times`,
    `slowest ${Math.round(Math.max(...readyMs))} ms, median ${Math.round(median(readyMs))} ms; a clean start ${Math.round(cleanMs)} ms`,
    Math.max(...readyMs) <= READY_GOAL_MS,
  )

export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Ended already: a parent's end takes some children along.
  }
}
