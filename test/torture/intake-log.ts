import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { random } from '#bench/payloads.ts'
import { type Service, startService } from '#bench/service.ts'
import { readMetric, setUpProject } from '#bench/setup-project.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { natsServer } from '../clients/toolchains.ts'
import { startDatabaseProxy } from '../kit/database-proxy.ts'
import { startNatsCluster } from '../kit/nats-cluster.ts'
import { waitFor } from '../kit/wait.ts'
import { mountLimitedDisk, type LimitedDisk } from './limited-disk.ts'
import { waitUntilDigested } from './target.ts'
import { atLeast, claim, none, print, skip, type TortureArgs, type Verdict } from './torture.ts'
import { claimsOf, examineDatabase, startWriters, type Writers } from './writers.ts'

const STREAM = 'torture_spool'
const LOG_MB = 32
/** A server needs more than the stream: the log of its agreement with the others. */
const DISK_MIB = 256
const PATIENCE_MS = 90_000

/**
 * T-52. An intake in front of a replicated log, two processes that move and digest, one for the rest; servers of the log are
 * killed and frozen, the log and its disks are full, the database is away or started again, intake and mover are killed. Claim: every
 * acknowledged event is stored and counted once; while the database is away none is refused.
 */
export async function intakeLog({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const ready = await natsServer()
  if ('missing' in ready) return skip(`nats-server is not there: ${ready.missing}`)
  const [program = ''] = ready.command
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const sideFile = join(folder, 'acknowledged.txt')
  const start = () => startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} })
  let postgres = await start()
  const proxy = await startDatabaseProxy(postgres.connectionString, random(seed))
  const disks = mountDisks(folder)
  const stores = disks.map(({ path }) => path)
  const cluster = await startNatsCluster(program, { user: 'torture', password: 'torture', stores })
  const key = randomBytes(32).toString('base64')
  const services = new Map<string, Service>()
  const allWriters: Writers[] = []
  const startRole = async (name: string, roles: string): Promise<Service> => {
    const port = services.get(name)?.url.split(':').at(-1)
    const service = await startService({
      dataDir: join(folder, name),
      ...(port === undefined ? {} : { port: Number(port) }),
      env: {
        DATABASE_URL: proxy.connectionString,
        ENCRYPTION_KEYS: `k1:${key}`,
        FAULTLINE_ROLES: roles,
        SPOOL_URL: cluster.url,
        SPOOL_STREAM: STREAM,
        SPOOL_MAX_MB: String(LOG_MB),
        RATE_LIMIT_SCALE: '0',
        FAULTLINE_CANARY_MINUTES: '0',
        LOG_LEVEL: 'silent',
      },
    })
    services.set(name, service)
    return service
  }
  const ROLES = { api: 'api,schedule,deliver', intake: 'ingest', digest1: 'digest', digest2: 'digest' } as const
  try {
    for (const [name, roles] of Object.entries(ROLES)) await startRole(name, roles)
    const urlOf = (name: keyof typeof ROLES): string => services.get(name)?.url ?? ''
    const project = await setUpProject(urlOf('api'))
    const writing = startWriters(project, { count: 6, seed, sideFile, url: urlOf('intake') })
    allWriters.push(writing)
    const accepting = async (what: string): Promise<void> => {
      const before = writing.accepted
      await waitFor(`acknowledgements after ${what}`, () => writing.accepted > before + 150, PATIENCE_MS)
    }
    await accepting('the start')
    const restart = async (name: keyof typeof ROLES): Promise<void> => {
      await services.get(name)?.stop('SIGKILL')
      await startRole(name, ROLES[name])
    }
    const seconds = Number(options['seconds'] ?? (full ? 20 : 3))
    const during = (writers_: Writers) => ({
      refused: (writers_.answers.get(503) ?? 0) + (writers_.answers.get(429) ?? 0),
      accepted: writers_.accepted,
    })
    /** Refused and accepted while the work runs. */
    const measured = async (
      what: string,
      work: () => Promise<void>,
    ): Promise<{ refused: number; accepted: number }> => {
      const before = during(writing)
      await work()
      const after = during(writing)
      const result = { refused: after.refused - before.refused, accepted: after.accepted - before.accepted }
      print(`  ${what}: ${result.accepted} acknowledged, ${result.refused} refused; ${writing.accepted} so far`)
      return result
    }
    const leaderOf = async (): Promise<number> =>
      (await waitFor('a leader', async () => (await cluster.leader(STREAM)) + 1, PATIENCE_MS)) - 1

    let [rounds, refusedWithoutDatabase, acceptedWithoutDatabase, notReady] = [0, 0, 0, 0]
    let [refusedWhenFull, refusedWithoutRoom] = [0, 0]
    for (let round = 0; round < (full ? 3 : 1); round++) {
      await measured('the leader of the log killed', async () => {
        const leader = await leaderOf()
        await cluster.kill(leader)
        await accepting('the kill of the leader')
        cluster.start(leader)
      })
      await measured('a server of the log frozen', async () => {
        const leader = await leaderOf()
        cluster.freeze(leader)
        await delay(seconds * 1_000)
        await accepting('the freeze of the leader')
        cluster.thaw(leader)
      })
      await measured('all servers of the log killed at once', async () => {
        await Promise.all([0, 1, 2].map((index) => cluster.kill(index)))
        for (const index of [0, 1, 2]) cluster.start(index)
        await accepting('the start of the log')
      })
      for (const [what, faults] of [
        ['cut', { reset: true }],
        ['silent', { silent: true }],
      ] as const) {
        const away = await measured(`the network to the database ${what}`, async () => {
          proxy.setFaults(faults)
          await delay(seconds * 1_000)
          if (!(await isReady(urlOf('intake')))) notReady++
          // The end of the outage is not part of it.
        })
        refusedWithoutDatabase += away.refused
        acceptedWithoutDatabase += away.accepted
        proxy.setFaults({})
        await accepting('the end of the outage')
      }
      await measured('the database stopped and started', async () => {
        proxy.setFaults({ reset: true })
        await postgres.stop()
        postgres = await start()
        proxy.setFaults({})
        await accepting('the start of the database')
      })
      await measured('the moving process killed', async () => {
        await restart('digest1')
        await accepting('the kill of a mover')
      })
      await measured('the other moving process killed', async () => {
        await restart('digest2')
        await accepting('the kill of a mover')
      })
      await measured('the intake killed', async () => {
        await services.get('intake')?.stop('SIGKILL')
        await startRole('intake', ROLES.intake)
        await accepting('the kill of the intake')
      })
      const filled = await measured('the share of the log full, the database away', async () => {
        proxy.setFaults({ reset: true })
        const fat = startWriters(project, {
          count: 4,
          seed: seed + 1,
          sideFile,
          url: urlOf('intake'),
          sizeBytes: 200_000,
        })
        allWriters.push(fat)
        // One project fills its share: the rest is for others.
        const refusals = (): number => (fat.answers.get(429) ?? 0) + (fat.answers.get(503) ?? 0)
        await waitFor('the log to refuse', () => refusals() > 20, PATIENCE_MS)
        fat.stopped = true
        await fat.done
        addTo(writing, fat)
        proxy.setFaults({})
      })
      refusedWhenFull += filled.refused
      await accepting('the full share')
      if (disks.length > 0) {
        await measured('the disk of one server of the log full', async () => {
          const follower = ((await leaderOf()) + 1) % disks.length
          disks[follower]?.fill()
          await accepting('the full disk of a server')
          disks[follower]?.empty()
          // A server that cannot write gives up its part of the log until it is started again.
          await cluster.kill(follower)
          cluster.start(follower)
        })
        const full = await measured('the disks of all servers of the log full', async () => {
          for (const disk of disks) disk.fill()
          const refused = (): number => writing.answers.get(503) ?? 0
          const before = refused()
          await waitFor('refusals without room', () => refused() > before + 20, PATIENCE_MS)
          for (const disk of disks) disk.empty()
          await Promise.all(disks.map((_, index) => cluster.kill(index)))
          for (const [index] of disks.entries()) cluster.start(index)
          await accepting('room on the disks of the log')
        })
        refusedWithoutRoom += full.refused
      }
      rounds++
    }
    writing.stopped = true
    await writing.done
    await waitFor(
      'the log to be moved',
      async () =>
        (await readMetric(urlOf('intake'), 'faultline_intake_log_up')) === 1 &&
        (await readMetric(urlOf('intake'), 'faultline_intake_log_backlog_messages')) === 0,
      PATIENCE_MS,
    )
    await waitUntilDigested(urlOf('intake'))
    let unread = 0
    for (const name of ['digest1', 'digest2'] as const)
      unread += await readMetric(urlOf(name), 'faultline_intake_log_unreadable_total')
    for (const service of services.values()) await service.stop('SIGTERM')
    const found = await examineDatabase(postgres.connectionString, sideFile)
    return {
      claims: [
        atLeast(`rounds of ${disks.length > 0 ? 'twelve' : 'ten'} faults`, 1, rounds),
        ...claimsOf(writing, found),
        none('requests refused while the database was away', refusedWithoutDatabase),
        none('outages during which the intake was not ready', notReady),
        claim('acknowledged meanwhile', acceptedWithoutDatabase, acceptedWithoutDatabase > 0),
        claim('a project that has filled its share of the log is refused', refusedWhenFull, refusedWhenFull > 0),
        ...(disks.length > 0
          ? [claim('a log without room on its disks is refused', refusedWithoutRoom, refusedWithoutRoom > 0)]
          : []),
        none('messages that could not be read', unread),
      ],
    }
  } finally {
    for (const writers of allWriters) writers.stopped = true
    await Promise.all([...services.values()].map((service) => service.stop('SIGKILL').catch(() => null)))
    await cluster.close()
    for (const disk of disks) disk.unmount()
    await proxy.close()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A small disk for each server; none where they cannot be mounted. */
function mountDisks(folder: string): LimitedDisk[] {
  const mounted = [0, 1, 2].map((index) => mountLimitedDisk(join(folder, `log${index}`), DISK_MIB))
  const disks = mounted.flatMap((one) => ('missing' in one ? [] : [one]))
  if (disks.length === mounted.length) return disks
  print(`  without full disks of the log: ${mounted.map((one) => ('missing' in one ? one.missing : ''))[0] ?? ''}`)
  for (const disk of disks) disk.unmount()
  return []
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`)
  await answer.arrayBuffer()
  return answer.status === 200
}

/** Counts what other writers did as well. */
function addTo(writers: Writers, others: Writers): void {
  for (const [status, n] of others.answers) writers.answers.set(status, (writers.answers.get(status) ?? 0) + n)
  writers.accepted += others.accepted
  writers.resent += others.resent
  writers.rude += others.rude
  writers.sent.error += others.sent.error
  writers.sent.transaction += others.sent.transaction
}
