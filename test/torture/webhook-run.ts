import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { percentile } from '#bench/bench.ts'
import { random } from '#bench/payloads.ts'
import { systemActor, factContext } from '#server/platform/context/actor.ts'
import type { App } from '#server/platform/context/app.ts'
import { recordFacts } from '#server/history/facts/record-facts.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { createEndpoint } from '#server/integrations/webhooks/create-endpoint.ts'
import { DELAYS_MS } from '#server/platform/requests/schedule.ts'
import { aPerson } from '#test/kit/members.ts'
import { startReceiver, type Answer, type ReceivedRequest, type Receiver } from '#test/kit/receiver.ts'
import { acceptedBy, VERIFIER_NAMES, type VerifierName } from '#test/kit/webhook-verifiers.ts'
import { atMost, claim, none, type Claim } from './torture.ts'

/** A run of T-15 or T-16: real endpoints, facts and receivers, and workers in processes of their own. */
export type WebhookRun = {
  /** Records the facts; shares database and keys with the workers. */
  readonly app: App
  readonly connectionString: string
  readonly seed: number
  readonly deliveries: number
  /** New deliveries per second. */
  readonly perSecond: number
  readonly workers: number
  /** SIGKILL of a random worker, each followed by a new one. */
  readonly kills: number
  /** FAULTLINE_RETRY_SCALE. */
  readonly scale: number
  /** The timeout of an attempt; a receiver that hangs takes it. */
  readonly timeoutMs: number
  readonly leaseMs: number
  readonly print?: (line: string) => void
}

const ENDPOINTS = 10
const ATTEMPTS = DELAYS_MS.length

/** One request of a delivery as its receiver handled it. */
type Contact = { readonly arrivedMs: number; readonly fate: Fate; readonly endedMs: number }
type Fate = 'ok' | 'error' | 'hang' | 'reset' | 'always error'

/** T-18: what independent libraries say of every request, and the bodies as they arrived. */
type Truth = {
  /** By the path of the endpoint. */
  readonly secrets: Map<string, string>
  /** Verifications, started when a request arrives: a signature is valid for five minutes. */
  readonly verdicts: Promise<readonly VerifierName[]>[]
  /** Digests of the bodies of each delivery. */
  readonly bodies: Map<string, Set<string>>
}

/** @returns the claims of T-15 with T-18, and with kills those of T-16 */
export async function deliverUnderFaults(run: WebhookRun): Promise<Claim[]> {
  const rand = random(run.seed)
  const contacts = new Map<string, Contact[]>()
  const truth: Truth = { secrets: new Map(), verdicts: [], bodies: new Map() }
  const receiver = await startReceiver({
    keepRequests: false,
    respond: (request) => {
      examine(truth, request)
      return respond(run, contacts, request)
    },
  })
  const database = new pg.Client({ connectionString: run.connectionString })
  const workers: ChildProcess[] = []
  try {
    await database.connect()
    workers.push(...(await Promise.all(Array.from({ length: run.workers }, () => startWorker(run)))))
    const orgId = await register(run.app, receiver, truth.secrets)
    const watch = watchLeases(database)
    const writing = writeFacts(run, orgId)
    const killing = kill(run, workers, database, rand, writing)
    const committedMs = await writing
    const { inFlight } = await killing
    await waitUntilSettled(database, run)
    const overdueMs = await watch.stop()
    const log = await readLog(database)
    return [...claimsOf(run, { contacts, committedMs, log, inFlight, overdueMs }), ...(await truthOf(truth, log))]
  } finally {
    for (const worker of workers) worker.kill('SIGKILL')
    await receiver.close()
    await database.end().catch(() => {})
  }
}

const digestOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex')

function examine({ secrets, verdicts, bodies }: Truth, request: ReceivedRequest): void {
  verdicts.push(acceptedBy(secrets.get(request.path) ?? '', request))
  const id = String(request.headers['svc-delivery'])
  bodies.set(id, (bodies.get(id) ?? new Set()).add(digestOf(request.body)))
}

async function truthOf({ verdicts, bodies }: Truth, log: readonly LoggedDelivery[]): Promise<Claim[]> {
  const refused = (await Promise.all(verdicts)).filter((accepting) => accepting.length < VERIFIER_NAMES.length)
  const differing = log.filter(({ id, body }) => {
    const seen = bodies.get(id)
    return seen !== undefined && (seen.size > 1 || !seen.has(digestOf(body)))
  })
  return [
    none(`requests of ${verdicts.length} that ${VERIFIER_NAMES.join(', ')} did not all accept`, refused.length),
    none('deliveries whose bodies differ from the stored bytes', differing.length),
  ]
}

/** Decides by the delivery and the number of its request, so that a seed repeats the shares. */
function fateOf(seed: number, deliveryId: string, request: number): Fate {
  const share = (of: string): number => createHash('sha256').update(`${seed} ${of}`).digest().readUInt32BE(0) / 2 ** 32
  if (share(deliveryId) < 0.05) return 'always error'
  const at = share(`${deliveryId} ${request}`)
  return at < 0.15 ? 'error' : at < 0.2 ? 'hang' : at < 0.25 ? 'reset' : 'ok'
}

const ANSWERS: Readonly<Record<Fate, Answer>> = {
  ok: 200,
  error: 500,
  'always error': 500,
  hang: { fault: 'hang' },
  reset: { fault: 'reset' },
}

function respond(
  run: WebhookRun,
  contacts: Map<string, Contact[]>,
  { headers, receivedAtMs }: ReceivedRequest,
): Answer {
  const id = String(headers['svc-delivery'])
  const ofDelivery = contacts.get(id) ?? []
  const fate = fateOf(run.seed, id, ofDelivery.length)
  const endedMs = fate === 'hang' ? receivedAtMs + run.timeoutMs : performance.timeOrigin + performance.now()
  contacts.set(id, [...ofDelivery, { arrivedMs: receivedAtMs, fate, endedMs }])
  return ANSWERS[fate]
}

const EVENT = 'password.changed'

/** A new organisation with endpoints that take one type of event. */
async function register(app: App, receiver: Receiver, secrets: Map<string, string>): Promise<string> {
  const { actor } = await aPerson(app)
  for (let endpoint = 0; endpoint < ENDPOINTS; endpoint++) {
    const { secret } = await createEndpoint(app, actor, {
      url: `${receiver.url}/${endpoint}`,
      events: [EVENT],
      description: '',
      ordering: 'none',
      max_per_second: null,
      auto_pause: false,
      standard_headers: false,
      headers: null,
    })
    secrets.set(`/${endpoint}`, secret)
  }
  return actor.orgId
}

/** Records facts at an even rate, each about another user. @returns when each was committed, by user */
async function writeFacts(run: WebhookRun, orgId: string): Promise<Map<string, number>> {
  const { app } = run
  const committedMs = new Map<string, number>()
  const facts = Math.ceil(run.deliveries / ENDPOINTS)
  const startedMs = performance.now()
  for (let fact = 0; fact < facts; fact++) {
    const userId = newId()
    await app.tx((tx) =>
      recordFacts(tx, factContext(app, systemActor('torture')), [
        { kind: 'user.password_changed', orgId, userId, data: {} },
      ]),
    )
    committedMs.set(userId, performance.timeOrigin + performance.now())
    await delay(Math.max(0, startedMs + ((fact + 1) * ENDPOINTS * 1_000) / run.perSecond - performance.now()))
  }
  return committedMs
}

/** @param env further settings */
export async function startWorker(
  run: Pick<WebhookRun, 'app' | 'connectionString' | 'scale' | 'timeoutMs' | 'leaseMs'>,
  env: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('webhook-worker.ts', import.meta.url))
  const child = spawn(process.execPath, [script, run.connectionString, String(run.leaseMs), String(run.timeoutMs)], {
    env: {
      ...process.env,
      NODE_ENV: '',
      FAULTLINE_DATA_DIR: run.app.config.dataDir,
      FAULTLINE_RETRY_SCALE: String(run.scale),
      LOG_LEVEL: 'fatal',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit').then(() => {
    throw new Error('a worker ended before it was ready')
  })
  if (child.stdout === null) throw new Error('no output')
  await Promise.race([once(child.stdout, 'data'), exited])
  exited.catch(() => {})
  return child
}

/** Kills workers at random moments while there are deliveries, and starts others. @returns the sum of what was in flight */
async function kill(
  run: WebhookRun,
  workers: ChildProcess[],
  database: pg.Client,
  rand: () => number,
  writing: Promise<unknown>,
): Promise<{ inFlight: number }> {
  let inFlight = 0
  let isWriting = true
  void writing.finally(() => {
    isWriting = false
  })
  const spanMs = (run.deliveries / run.perSecond) * 1_000
  for (let n = 1; n <= run.kills; n++) {
    // Later kills meet retries.
    if (isWriting) await delay((rand() * 1.6 * spanMs) / run.kills)
    const victim = Math.floor(rand() * workers.length)
    const { rows } = await database.query<{ n: number }>(
      `select count(*)::int as n from outbox_deliveries where lease_token is not null`,
    )
    inFlight += rows[0]?.n ?? 0
    workers[victim]?.kill('SIGKILL')
    workers[victim] = await startWorker(run)
    run.print?.(`  kill ${n}/${run.kills}, ${rows[0]?.n ?? 0} in flight`)
  }
  return { inFlight }
}

/** Measures how long a lease that ended waits for the next worker. */
function watchLeases(database: pg.Client): { stop(): Promise<number> } {
  let overdueMs = 0
  let isStopped = false
  const watching = (async () => {
    while (!isStopped) {
      const { rows } = await database.query<{ ms: number | null }>(
        `select extract(epoch from clock_timestamp() - min(due_at))::float8 * 1000 as ms from outbox_deliveries
         where lease_token is not null`,
      )
      overdueMs = Math.max(overdueMs, rows[0]?.ms ?? 0)
      await delay(100)
    }
  })()
  return {
    async stop() {
      isStopped = true
      await watching
      return overdueMs
    },
  }
}

/** Waits until every delivery has ended. @throws Error when that takes longer than the schedule and its leases can */
async function waitUntilSettled(database: pg.Client, run: WebhookRun): Promise<void> {
  const scheduleMs = DELAYS_MS.reduce((sum, ms) => sum + ms, 0) * run.scale
  const deadline = performance.now() + scheduleMs + (ATTEMPTS + 2) * Math.max(run.timeoutMs, run.leaseMs) + 60_000
  for (;;) {
    const { rows } = await database.query<{ n: number }>(
      'select count(*)::int as n from outbox_deliveries where due_at is not null',
    )
    if (rows[0]?.n === 0) return
    if (performance.now() > deadline) throw new Error(`${rows[0]?.n} deliveries did not end in time`)
    await delay(100)
  }
}

type LoggedDelivery = {
  readonly id: string
  readonly state: string
  readonly attempt: number
  readonly attempts: number
  readonly userId: string
  readonly body: Buffer
  readonly statuses: readonly (number | null)[]
  /** Starts and ends of the attempts, by the clock of the database, to the millisecond. */
  readonly startedMs: readonly number[]
  readonly endedMs: readonly number[]
}

async function readLog(database: pg.Client): Promise<LoggedDelivery[]> {
  const { rows } = await database.query<LoggedDelivery>(
    `select d.id, d.state, d.attempt, d.attempts_made as attempts, m.user_id as "userId", m.body,
       array(select a.status from outbox_attempts a where a.delivery_id = d.id order by a.n) as statuses,
       array(select extract(epoch from a.started_at)::float8 * 1000 from outbox_attempts a where a.delivery_id = d.id
         order by a.n) as "startedMs",
       array(select extract(epoch from a.started_at)::float8 * 1000 + a.duration_ms from outbox_attempts a
         where a.delivery_id = d.id order by a.n) as "endedMs"
     from outbox_deliveries d join outbox_messages m on m.id = d.message_id`,
  )
  return rows
}

type Evidence = {
  readonly contacts: ReadonlyMap<string, readonly Contact[]>
  readonly committedMs: ReadonlyMap<string, number>
  readonly log: readonly LoggedDelivery[]
  /** At the kills. */
  readonly inFlight: number
  readonly overdueMs: number
}

function claimsOf(run: WebhookRun, { contacts, committedMs, log, inFlight, overdueMs }: Evidence): Claim[] {
  const of = (id: string): readonly Contact[] => contacts.get(id) ?? []
  const isOk = ({ fate }: Contact): boolean => fate === 'ok'
  const wrongEnds = log.filter(
    ({ id, state, attempt, attempts, statuses }) =>
      statuses.length !== attempts ||
      !(
        (state === 'delivered' && statuses.at(-1) === 200 && of(id).some(isOk)) ||
        (state === 'failed' && attempt === ATTEMPTS && attempts === ATTEMPTS)
      ),
  )
  const afterSuccess = log.reduce((sum, { id }) => {
    const first = of(id).findIndex(isOk)
    return sum + (first === -1 ? 0 : of(id).length - first - 1)
  }, 0)
  const common = [
    claim('every event has a delivery for each endpoint', log.length, log.length === committedMs.size * ENDPOINTS),
    claim(
      `delivered, or failed after exactly ${ATTEMPTS} attempts`,
      `${log.length - wrongEnds.length} of ${log.length} (${log.filter(({ state }) => state === 'failed').length} failed)`,
      wrongEnds.length === 0,
    ),
    none('never attempted', log.filter(({ id }) => of(id).length === 0).length),
    none('delivered without a 2xx', log.filter(({ id, state }) => state === 'delivered' && !of(id).some(isOk)).length),
  ]
  if (run.kills > 0)
    return [
      ...common,
      atMost('requests after the first 2xx, of kills × in flight', inFlight, afterSuccess),
      atMost('a lease that ended waits', 1, overdueMs / 1_000, ' s'),
    ]
  const firsts = log.map(({ id, userId }) => (of(id)[0]?.arrivedMs ?? Infinity) - (committedMs.get(userId) ?? 0))
  const afterRecorded = log.reduce((sum, { id, statuses }) => {
    const first = statuses.indexOf(200)
    return sum + (first === -1 ? 0 : Math.max(0, of(id).length - first - 1))
  }, 0)
  const delayMs = (attempt: number): number => (DELAYS_MS[attempt] ?? 0) * run.scale
  const lateMs = log.flatMap(({ id }) =>
    of(id)
      .slice(1)
      .map((contact, index) => contact.arrivedMs - (of(id)[index]?.endedMs ?? 0) - delayMs(index + 1)),
  )
  // By the sender's own log: a receiver in a busy process learns late that a request ended.
  const earliestMs = Math.min(
    ...log.flatMap(({ startedMs, endedMs }) =>
      startedMs.slice(1).map((started, index) => started - (endedMs[index] ?? 0) - delayMs(index + 1)),
    ),
  )
  return [
    ...common,
    none('requests after a recorded success', afterRecorded),
    atMost('commit → request, p99', 1, percentile(firsts, 99) / 1_000, ' s'),
    atMost('the latest retry', 1, Math.max(...lateMs) / 1_000, ' s'),
    claim('no retry early', `the first ${earliestMs.toFixed(1)} ms after it was due`, earliestMs >= -1),
  ]
}
