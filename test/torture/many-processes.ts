import { randomBytes } from 'node:crypto'
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { random } from '#bench/payloads.ts'
import { type Service, startService } from '#bench/service.ts'
import { addProject, setUpProject } from '#bench/setup-project.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { waitUntilDigested } from './target.ts'
import { atLeast, none, print, type TortureArgs, type Verdict } from './torture.ts'
import { startTrickle, untilDelivered, watchNewIssues } from './trickle.ts'
import { claimsOf, examineDatabase, startWriters, sumOfWriters, type Writers } from './writers.ts'

/** One process for each, all on one database. */
const ROLES = ['ingest', 'ingest', 'digest', 'digest', 'deliver', 'deliver', 'schedule', 'api', 'api'] as const
/** How long processes work between two ends. */
const MAX_PAUSE_MS = 1_500

type Process = { readonly role: (typeof ROLES)[number]; readonly port: number; service: Service }

/**
 * S-01. Nine processes share a database, two ingest, two digest, two deliver, one schedule, two api, and end in turn: by
 * SIGKILL, or by SIGTERM as in a rolling restart. Claim: every acknowledged event is stored and counted once; every new
 * issue fires its rule once, and its webhook arrives.
 */
export async function manyProcesses({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const binaries = options['postgres'] === '15' ? 'pg15' : 'pg18'
  // It is not killed here, and nine processes need more connections than the embedded one offers.
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'database'),
    log: () => {},
    binaries,
    durability: 'none-for-tests',
  })
  const receiver = await startReceiver()
  const started: Process[] = []
  const writers: Writers[] = []
  try {
    const start = (role: string, port?: number): Promise<Service> =>
      startService({
        dataDir: join(folder, 'data'),
        ...(port === undefined ? {} : { port }),
        env: {
          DATABASE_URL: postgres.connectionString,
          ENCRYPTION_KEYS: `k1:${key}`,
          FAULTLINE_ROLES: role,
          RATE_LIMIT_SCALE: '0',
          FAULTLINE_CANARY_MINUTES: '0',
          EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
          EGRESS_ALLOW_HTTP: '1',
          LOG_LEVEL: 'silent',
        },
      })
    const key = randomBytes(32).toString('base64')
    for (const role of ROLES) {
      const service = await start(role)
      started.push({ role, port: Number(new URL(service.url).port), service })
    }
    const urlsOf = (role: Process['role']): string[] =>
      started.filter((one) => one.role === role).map(({ service }) => service.url)
    const [api = ''] = urlsOf('api')
    const project = await setUpProject(api)
    // With few new issues a minute, each of which is sent by itself.
    const calm = await addProject(api, project.cookie, 'Calm')
    await watchNewIssues(api, calm, receiver)
    const trickle = startTrickle(calm, () => urlsOf('ingest'))

    const sideFiles = urlsOf('ingest').map((_, index) => join(folder, `acknowledged-${index}.txt`))
    writers.push(
      ...urlsOf('ingest').map((url, index) =>
        startWriters(project, { count: 4, seed: seed + index, sideFile: sideFiles[index] ?? '', url }),
      ),
    )
    const rand = random(seed)
    const rounds = Number(options['rounds'] ?? (full ? 6 : 1))
    let [kills, notClean, slowestMs] = [0, 0, 0]
    for (let round = 0; round < rounds; round++)
      for (const [place, one] of started.entries()) {
        await delay(200 + rand() * MAX_PAUSE_MS)
        const signal = (place + round) % 2 === 0 ? 'SIGKILL' : 'SIGTERM'
        // As a load balancer does: what went to this process goes to the other one.
        const other = urlsOf('ingest').find((url) => url !== one.service.url) ?? null
        for (const writer of writers) if (writer.url === one.service.url) writer.url = other
        if (signal === 'SIGTERM') await delay(50)
        const code = await one.service.stop(signal)
        if (signal === 'SIGTERM' && code !== 0) notClean++
        one.service = await start(one.role, one.port)
        slowestMs = Math.max(slowestMs, one.service.readyMs)
        kills++
        if (one.role === 'ingest') for (const [n, writer] of writers.entries()) writer.url = urlsOf('ingest')[n] ?? null
        const accepted = writers.reduce((sum, writer) => sum + writer.accepted, 0)
        print(
          `  ${kills}: ${one.role} ended by ${signal}, ready after ${Math.round(one.service.readyMs)} ms; ${accepted} acknowledged`,
        )
      }
    for (const writer of writers) writer.stopped = true
    for (const writer of writers) await writer.done
    const problems = await trickle.stop()
    await waitUntilDigested(urlsOf('ingest')[0] ?? '')
    const delivered = await untilDelivered(postgres.connectionString, calm, receiver, problems)
    for (const { service } of started) await service.stop()

    const sideFile = join(folder, 'acknowledged.txt')
    for (const file of sideFiles) appendFileSync(sideFile, readFileSync(file))
    const found = await examineDatabase(postgres.connectionString, sideFile, calm.projectId)
    return {
      claims: [
        atLeast('processes ended and started again', ROLES.length * rounds, kills),
        none('exit codes of SIGTERM other than 0', notClean),
        ...claimsOf(sumOfWriters(writers), found),
        ...delivered,
      ],
    }
  } finally {
    for (const writer of writers) writer.stopped = true
    await Promise.all(started.map(({ service }) => service.stop('SIGKILL').catch(() => null)))
    await receiver.close()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
