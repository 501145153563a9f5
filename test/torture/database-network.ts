import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { random } from '#bench/payloads.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { startDatabaseProxy, type NetworkFaults } from '../kit/database-proxy.ts'
import { createCollector } from './collect-garbage.ts'
import { watchReaders } from './readers.ts'
import { forgetPeak, peakMiB, startTarget, waitUntilDigested } from './target.ts'
import { atMost, type Claim, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'
import { claimsOf, examineDatabase, startWriters } from './writers.ts'

const MAX_WAIT_S = 30
const MAX_GROWTH = 1.5
const BACK_GOAL_S = 10

/** Seconds in the default form. */
const FAULTS: readonly { name: string; faults: NetworkFaults; seconds: number }[] = [
  { name: 'latency 2 s', faults: { latencyMs: 2_000 }, seconds: 7 },
  { name: 'reset', faults: { reset: true }, seconds: 4 },
  // Longer than the service waits before it answers.
  { name: 'half-open', faults: { silent: true }, seconds: 13 },
  { name: '5 % of chunks stalled for 3 s', faults: { stalledShare: 0.05, stallMs: 3_000 }, seconds: 7 },
]
const FULL_SECONDS = 600

/**
 * T-06: network faults between service and database, under load. Claim: no request waits for more than half a minute,
 * memory stays within one and a half times its normal peak under the same load, and the service recovers with the
 * network.
 */
export async function databaseNetwork({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-network-'))
  chmodSync(folder, 0o755)
  const sideFile = join(folder, 'acknowledged.txt')
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} })
  const proxy = await startDatabaseProxy(postgres.connectionString, random(seed))
  const collector = await createCollector()
  const { service, project, url } = await startTarget({
    dataDir: join(folder, 'data'),
    env: { DATABASE_URL: proxy.connectionString, ...collector.env },
  })
  const writers = startWriters(project, { count: 8, seed, sideFile, url })
  const readers = watchReaders(url, project.cookie)
  try {
    // The peak of the same load without faults; "idle peak" has no other meaning under load.
    await delay(4_000)
    await collector.settledMiB(service.pid)
    forgetPeak(service.pid)
    await delay(3_000)
    const peakWithoutFaults = peakMiB(service.pid)
    const claims: Claim[] = []
    for (const { name, faults, seconds } of FAULTS) {
      readers.begin()
      writers.slowestMs = 0
      writers.answers.clear()
      forgetPeak(service.pid)
      proxy.setFaults(faults)
      await delay((full ? FULL_SECONDS : Number(options['seconds'] ?? seconds)) * 1000)
      const answers = [...writers.answers].map(([status, times]) => `${status === 0 ? 'cut' : status} × ${times}`)
      proxy.setFaults({})
      const repairedAt = performance.now()
      const since = writers.accepted
      while (writers.accepted === since && performance.now() - repairedAt < 60_000) await delay(10)
      const backS = (performance.now() - repairedAt) / 1000
      // Requests that still wait belong to the fault.
      await delay(1_000)
      const read = readers.end()
      const slowestS = Math.max(writers.slowestMs, read.slowestMs) / 1000
      const peak = peakMiB(service.pid)
      const cut = writers.answers.get(0) ?? 0
      print(
        `  ${name}: SDKs ${answers.join(', ')}; readers ${read.ok} of ${read.all}, others ${[...read.others].map(([status, times]) => `${status} × ${times}`).join(', ')}; ${Math.round(peak)} MiB`,
      )
      claims.push(
        atMost(`${name}: longest wait`, MAX_WAIT_S, slowestS, ' s'),
        claim(
          `${name}: memory ≤${MAX_GROWTH}× of the peak without faults`,
          `${Math.round(peak)} of ${Math.round(peakWithoutFaults)} MiB`,
          peak <= peakWithoutFaults * MAX_GROWTH,
        ),
        none(`${name}: requests without an answer`, cut + (read.others.get(0) ?? 0)),
        atMost(`${name}: back after it is over`, BACK_GOAL_S, backS, ' s'),
      )
    }
    writers.stopped = true
    await writers.done
    readers.stop()
    await waitUntilDigested(url)
    await service.stop()
    return { claims: [...claims, ...claimsOf(writers, await examineDatabase(postgres.connectionString, sideFile))] }
  } finally {
    writers.stopped = true
    readers.stop()
    proxy.setFaults({})
    await service.stop()
    await proxy.close()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
