import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '#server/service/app.ts'
import { type SessionActor, factContext } from '#server/platform/context/actor.ts'
import type { App } from '#server/platform/context/app.ts'
import { readConfig } from '#server/config/config.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { recordFacts } from '#server/history/facts/record-facts.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { createEndpoint } from '#server/integrations/webhooks/create-endpoint.ts'
import { aPerson } from '#test/kit/members.ts'
import { startReceiver, type Answer, type ReceivedRequest } from '#test/kit/receiver.ts'
import { percentile, type BenchArgs, type BenchResult } from './bench.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { processorTimeOfTree } from './processor-time.ts'
import { startService } from './service.ts'

export const summary =
  'P13, T-17: signed webhooks of 2 KiB to a local receiver, commit → answer, and beside a dead endpoint (--rate=1100, --seconds=20 or 60 with --long, --burst=10000)'

const ORGS = 5
const ENDPOINTS = 20
/** Makes the body of an event 2 KiB long. */
const USER_AGENT = 'bench/1.0 '.padEnd(1_690, 'x')
const EVENT = 'password.changed'

/**
 * The product with all its roles in one process, its database, and this process as its clients: it records facts through
 * the verbs of the product and receives what is delivered. Everything shares the processor.
 */
export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const rate = Number(options['rate'] ?? 1_100)
  const seconds = Number(options['seconds'] ?? (long ? 60 : 20))
  const burst = Number(options['burst'] ?? 10_000)
  const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'service')
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} })
  const inbox = createInbox()
  const receiver = await startReceiver({
    host: '0.0.0.0',
    keepRequests: false,
    respond: (request) => inbox.receive(request),
  })
  try {
    const { connectionString } = postgres
    const service = await startService({ dataDir, env: { DATABASE_URL: connectionString, LOG_LEVEL: 'warn' } })
    const config = readConfig({ FAULTLINE_DATA_DIR: dataDir, LOG_LEVEL: 'warn' })
    const app = await createApp(config, connectionString, 4, 'bench')
    try {
      const actors: SessionActor[] = []
      for (let org = 0; org < ORGS; org++) actors.push(await register(app, org, receiver.port))
      // The first statements and signatures of a process are slow.
      await paced(app, actors, inbox, 200, 3)
      inbox.clear()

      const before = processorTime(service.pid)
      const startedMs = performance.now()
      const sent = await paced(app, actors, inbox, rate, seconds)
      const tookMs = inbox.lastMs() - startedMs
      const after = processorTime(service.pid)
      const latencies = inbox.latencies()
      const alone = await drained(app, actors, inbox, burst)
      inbox.deadPath = '/0/0'
      const besideDead = await drained(app, actors, inbox, burst)
      return {
        figures: {
          deliveries: { value: latencies.length / (tookMs / 1_000), unit: '/s', goal: '≥1,000/s (P13)' },
          'commit → answer, p99': { value: percentile(latencies, 99), unit: 'ms', goal: '≤250 ms (P13)' },
          'commit → answer, p50': { value: percentile(latencies, 50), unit: 'ms' },
          'not delivered': { value: sent - latencies.length, unit: '' },
          'a burst': { value: alone, unit: '/s' },
          'beside a dead endpoint of 100': { value: besideDead, unit: '/s' },
          'slower by': { value: Math.max(0, (alone / besideDead - 1) * 100), unit: '%', goal: '≤10 % (T-17)' },
          'processor time of the service': { value: (after.service - before.service) / sent, unit: 'ms each' },
          'processor time of the database': { value: (after.database - before.database) / sent, unit: 'ms each' },
        },
        payload: `bodies of ${inbox.sizeBytes()} bytes, ${ORGS} organisations with ${ENDPOINTS} endpoints each, signed, over kept connections`,
        durability: 'fsync and synchronous_commit on',
        postgres: embeddedPostgresVersion(),
        notes: [
          `${rate} deliveries/s for ${seconds} s, one fact and its audit entry for ${ENDPOINTS} of them; a burst is ${burst} deliveries`,
          'facts and receiver run in the process of the bench, on the same processor',
        ],
      }
    } finally {
      await app.close()
      await service.stop()
    }
  } finally {
    await receiver.close()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Milliseconds. The database is a child of this process. */
function processorTime(servicePid: number): { service: number; database: number } {
  const { database } = processorTimeOfTree(process.pid)
  const { database: _none, ...service } = processorTimeOfTree(servicePid)
  return { service: Object.values(service).reduce((sum, ms) => sum + ms, 0), database }
}

/** An organisation with its endpoints. @returns its owner */
async function register(app: App, org: number, port: number): Promise<SessionActor> {
  const { actor } = await aPerson(app)
  for (let endpoint = 0; endpoint < ENDPOINTS; endpoint++)
    await createEndpoint(app, actor, {
      // Each is another host.
      url: `http://127.0.${org}.${endpoint + 1}:${port}/${org}/${endpoint}`,
      events: [EVENT],
      description: '',
      ordering: 'none',
      max_per_second: null,
      auto_pause: false,
      standard_headers: false,
      headers: null,
    })
  return { ...actor, origin: { ...actor.origin, userAgent: USER_AGENT } }
}

/** Arrived events, with the time since their fact was committed. */
function createInbox() {
  const committedMs = new Map<string, number>()
  const arrivals: { userId: string; atMs: number }[] = []
  let sizeBytes = 0
  let lastMs = 0
  return {
    /** Hangs. */
    deadPath: null as string | null,
    receive({ path, body }: ReceivedRequest): Answer {
      if (this.deadPath !== null && path === this.deadPath) return { fault: 'hang' }
      lastMs = performance.now()
      sizeBytes = body.length
      // Parsing every body would cost as much as sending it.
      const at = body.indexOf('"user_id":"') + 11
      arrivals.push({ userId: body.toString('latin1', at, at + 36), atMs: lastMs })
      return 200
    },
    committed(userId: string): void {
      committedMs.set(userId, performance.now())
    },
    count: () => arrivals.length,
    latencies: () => arrivals.map(({ userId, atMs }) => Math.max(0, atMs - (committedMs.get(userId) ?? Number.NaN))),
    lastMs: () => lastMs,
    sizeBytes: () => sizeBytes,
    clear(): void {
      arrivals.length = 0
      committedMs.clear()
    },
  }
}
type Inbox = ReturnType<typeof createInbox>

/** Records a fact: one delivery for each endpoint of the organisation. */
async function record(app: App, actor: SessionActor, inbox: Inbox): Promise<void> {
  const userId = newId()
  await app.tx((tx) =>
    recordFacts(tx, factContext(app, actor), [{ kind: 'user.password_changed', orgId: actor.orgId, userId, data: {} }]),
  )
  inbox.committed(userId)
}

const MAX_WAIT_MS = 15_000

/** Records facts at an even rate and waits until their deliveries arrived. @returns number of deliveries */
async function paced(
  app: App,
  actors: readonly SessionActor[],
  inbox: Inbox,
  rate: number,
  seconds: number,
): Promise<number> {
  const facts = Math.ceil((rate * seconds) / ENDPOINTS)
  const before = inbox.count()
  const startedMs = performance.now()
  const running = new Set<Promise<void>>()
  for (let fact = 0; fact < facts; fact++) {
    const actor = actors[fact % actors.length]
    if (actor === undefined) break
    const one = record(app, actor, inbox)
    running.add(one)
    void one.finally(() => running.delete(one))
    await delay(Math.max(0, startedMs + ((fact + 1) * ENDPOINTS * 1_000) / rate - performance.now()))
  }
  await Promise.all(running)
  const sent = facts * ENDPOINTS
  const deadline = performance.now() + MAX_WAIT_MS
  while (inbox.count() < before + sent && performance.now() < deadline) await delay(5)
  return sent
}

/** Records facts as fast as possible. @returns deliveries per second to endpoints that answer */
async function drained(app: App, actors: readonly SessionActor[], inbox: Inbox, burst: number): Promise<number> {
  inbox.clear()
  const facts = Math.ceil(burst / ENDPOINTS)
  const startedMs = performance.now()
  let next = 0
  const write = async (): Promise<void> => {
    while (next < facts) {
      const actor = actors[next++ % actors.length]
      if (actor !== undefined) await record(app, actor, inbox)
    }
  }
  await Promise.all([write(), write(), write(), write()])
  const expected = facts * ENDPOINTS - (inbox.deadPath === null ? 0 : Math.ceil(facts / ORGS))
  const deadline = performance.now() + 60_000
  while (inbox.count() < expected) {
    if (performance.now() > deadline) throw new Error(`only ${inbox.count()} of ${expected} deliveries arrived`)
    await delay(5)
  }
  return expected / ((inbox.lastMs() - startedMs) / 1_000)
}
