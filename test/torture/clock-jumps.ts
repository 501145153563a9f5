import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startService } from '#bench/service.ts'
import { addProject, logIn, setUpProject } from '#bench/setup-project.ts'
import { runningEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { makeCheckout } from '../flows/installation.ts'
import { compileShim, preloadInto, whyNoShim } from './io-shim.ts'
import { waitUntilDigested } from './target.ts'
import { none, print, skip, type TortureArgs, type Verdict } from './torture.ts'
import { startTrickle, untilDelivered, watchNewIssues } from './trickle.ts'
import { claimsOf, examineDatabase, startWriters } from './writers.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Milliseconds by which the clocks of the service and of its database are moved. */
const JUMPS = [
  { what: 'the service an hour ahead', service: HOUR_MS, database: 0 },
  { what: 'the service an hour behind', service: -HOUR_MS, database: 0 },
  { what: 'the database an hour ahead', service: 0, database: HOUR_MS },
  { what: 'the database an hour behind', service: 0, database: -HOUR_MS },
  { what: 'a second repeated, as a leap second is', service: -SECOND_MS, database: -SECOND_MS },
  { what: 'both a day ahead', service: DAY_MS, database: DAY_MS },
  { what: 'both a day behind', service: -DAY_MS, database: -DAY_MS },
] as const
const MOVED_FOR_MS = 7_000

/**
 * T-08: the wall clocks of the service and of its database jump under load, apart and together, and back; the service runs
 * in a time zone far away. Claim: as for kill-intake; each new problem has one alert, which arrives; members can log in
 * whatever the clock says.
 */
export async function clockJumps({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const why = whyNoShim()
  if (why !== null) return skip(why)
  const rounds = Number(options['rounds'] ?? (full ? 5 : 1))
  const folder = mkdtempSync(join(tmpdir(), 'faultline-clocks-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const clocks = { service: join(folder, 'service-clock'), database: join(folder, 'database-clock') }
  const move = (clock: keyof typeof clocks, ms: number): void => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(ms))
    // The file is mapped: it is written, not replaced.
    writeFileSync(clocks[clock], bytes, { flag: 'r+' })
  }
  for (const clock of Object.values(clocks)) writeFileSync(clock, Buffer.alloc(8), { mode: 0o644 })
  const receiver = await startReceiver()
  const checkout = makeCheckout(join(folder, 'checkout'), { ownPostgres: true })
  const library = compileShim(folder, 'clock-shim.c')
  preloadInto(checkout, library, clocks.database)
  const service = await startService({
    checkout,
    dataDir,
    env: {
      TZ: 'Pacific/Kiritimati',
      LD_PRELOAD: library,
      IO_SHIM_CONTROL: clocks.service,
      RATE_LIMIT_SCALE: '0',
      FAULTLINE_CANARY_MINUTES: '0',
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      EGRESS_ALLOW_HTTP: '1',
      LOG_LEVEL: 'silent',
    },
  })
  const sideFile = join(folder, 'acknowledged.txt')
  try {
    const { url } = service
    const project = await setUpProject(url)
    const calm = await addProject(url, project.cookie, 'Calm')
    await watchNewIssues(url, calm, receiver)
    const writers = startWriters(project, { count: 4, seed, sideFile, url, pauseMs: 20 })
    const trickle = startTrickle(calm, () => [url])
    let keptOut = 0
    try {
      for (let round = 0; round < rounds; round++)
        for (const { what, ...moved } of JUMPS) {
          for (const by of [1, 0]) {
            move('service', moved.service * by)
            move('database', moved.database * by)
            await delay(MOVED_FOR_MS)
            const cookie = await logIn(url).catch(() => '')
            const me = await fetch(`${url}/api/me`, { headers: { cookie } })
            if (me.status !== 200) {
              keptOut++
              print(`  ${what}${by === 0 ? ', and back' : ''}: /api/me answers ${me.status}`)
            }
          }
          print(`  ${what}, and back: ${writers.accepted} acknowledged, ${receiver.requests.length} alerts arrived`)
        }
    } finally {
      writers.stopped = true
    }
    await writers.done
    const problems = await trickle.stop()
    await waitUntilDigested(url)
    const running = runningEmbeddedPostgres(dataDir)
    if (running === null) throw new Error('the database does not run')
    const delivered = await untilDelivered(running.connectionString, calm, receiver, problems)
    const found = await examineDatabase(running.connectionString, sideFile, calm.projectId)
    return {
      claims: [
        ...claimsOf(writers, found),
        ...delivered,
        none('log-ins that fail', keptOut),
        none('alerts that arrived twice', receiver.requests.length - problems),
      ],
    }
  } finally {
    await service.stop().catch(() => null)
    await receiver.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}
