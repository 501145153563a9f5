import { ping } from '../../ingest/spool/spool.queries.ts'
import { flushDenials } from '../../history/audit/denials.ts'
import { signHeads } from '../../history/audit/signed-heads.ts'
import type { App } from '../../platform/context/app.ts'
import { createAuthenticator } from '../../identity/auth/authenticate.ts'
import { clientAddressReader } from '../http/request-guard.ts'
import type { Readiness } from '../http/health.ts'
import { contract } from '../api/contract.ts'
import { handlers } from '../api/handlers.ts'
import type { ReadMetric } from '../http/otlp-metrics.ts'
import { missingStoreText } from '../doctor/check-stores.ts'
import { createHttpService } from '../http/server.ts'
import { createIntake, type Intake } from '../../ingest/intake/create-intake.ts'
import { runJobs } from '../../platform/jobs/run-jobs.ts'
import { withinGrace } from '../../platform/kernel/abortable.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import {
  createHandOver,
  type HandOver,
  handOverToThreads,
  MAX_HANDED_BYTES,
  type ThreadHandOver,
} from '../../ingest/spool/hand-over.ts'
import { SHARD_NUMBERS, threadOfShard } from '../../ingest/spool/entry.ts'
import { type Mover, type OpenLog, openIntakeLog } from '../../ingest/spool/open-intake-log.ts'
import { Database } from '../../platform/storage/database.ts'
import { createPool } from '../../platform/storage/pool.ts'
import { pendingMigrations } from '../../platform/storage/migrate.ts'
import { createCanary, type Canary, type CanaryTiming, readCanary } from '../canary/create-canary.ts'
import { symbolicateFor } from '../../symbols/symbolication/symbolicator.ts'
import { createDigester } from '../../ingest/digest/digester.ts'
import { CHANNELS } from '../channels.ts'
import type { Channel } from '../../platform/outbox/channel.ts'
import { startDeliverer } from '../../platform/outbox/start-deliverer.ts'
import { listTasks } from '../tasks.ts'
import { clearUploads } from '../../symbols/tasks.ts'
import {
  backupFigures,
  deliveryFigures,
  digestFigures,
  intakeFigures,
  logFigures,
  lagFigures,
  passwordFigures,
  type DigestSums,
} from './figures.ts'
import type { MetricsExporter } from './export-metrics.ts'
import { Worker } from 'node:worker_threads'
import type { DigestThreadCommand, DigestThreadData, DigestThreadReport } from './digest-thread.ts'

export type Service = {
  readonly port: number
  /** The address for browsers and SDKs. */
  readonly publicUrl: string
  /** Digests what is in the spool now. Does nothing when digestion runs in its own thread. */
  drain(): Promise<void>
  /** Null when it is switched off, or the process has neither intake nor API. */
  readonly canary: Canary | null
  close(): Promise<void>
}

type ServiceOptions = {
  /** `thread` for the product. For tests: `inline` digests in this thread continuously, `manual` only in `drain`. */
  readonly digestion: 'thread' | 'inline' | 'manual'
  /** Whether a process with the role `schedule` runs background jobs. Default true. */
  readonly jobs?: boolean
  /** When the end-to-end test looks; null: only when it is asked to. For tests. */
  readonly canary?: CanaryTiming | null
  /** Channels for which a process with the role `deliver` sends. Default: all channels. */
  readonly channels?: readonly Channel[]
}

/** First for running requests, then for everything else in parallel. Together well below the limit of a stop. */
const REQUEST_GRACE_MS = 5_000
const DIGEST_GRACE_MS = 4_000
const INTAKE_GRACE_MS = 4_000
const CANARY_GRACE_MS = 1_000
const AUDIT_GRACE_MS = 2_000
const DELIVERY_GRACE_MS = 4_000
const EXPORT_GRACE_MS = 1_000

/**
 * Starts the roles of this process: intake, API and pages, digestion, jobs, deliveries. It listens when this returns.
 * @throws the error that prevents listening, after stopping what was started
 */
export async function startService(app: App, connectionString: string, options: ServiceOptions): Promise<Service> {
  const { roles } = app.config
  const stops: (() => Promise<void>)[] = []
  const stopWork = async (): Promise<void> => {
    const results = await Promise.allSettled(stops.map((stop) => stop()))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
  try {
    await clearUploads(app)
    const missing = await missingStoreText(app.db, app.config)
    if (missing !== null) app.log.error(missing)
    // With a log, rows exist when the mover wrote them.
    const handsOver =
      roles.includes('ingest') &&
      roles.includes('digest') &&
      options.digestion !== 'manual' &&
      app.config.intakeLog === null
    const threads = options.digestion === 'thread' ? app.config.digestThreads : 1
    const handOvers = handsOver
      ? Array.from({ length: threads }, () => createHandOver(MAX_HANDED_BYTES / threads))
      : null
    const handOver = handOvers === null ? null : handOverToThreads(handOvers)
    const canary =
      app.config.canaryMinutes > 0 && (roles.includes('ingest') || roles.includes('api'))
        ? createCanary(app, roles.includes('ingest'))
        : null
    const used = roles.includes('ingest') || roles.includes('digest') ? openIntakeLog(app) : null
    let mover: Mover | null = null
    const intake = roles.includes('ingest') ? openIntake(app, connectionString, handOver, used, canary?.isOwn) : null
    stops.push(async () => {
      await Promise.all([
        intake === null ? null : closeIntake(app, intake),
        mover === null ? null : withinGrace(INTAKE_GRACE_MS, mover.stop()),
      ])
      await used?.log.close()
    })
    const authenticator = createAuthenticator(app)
    stops.push(() => Promise.resolve(authenticator.close()))
    if (roles.includes('schedule') && options.jobs !== false) {
      const jobs = runJobs(app, connectionString, listTasks(app.config))
      stops.push(() => jobs.stop())
    }
    const digestion = roles.includes('digest')
      ? await startDigestion(app, connectionString, options.digestion, handOvers)
      : null
    if (digestion !== null) stops.push(() => digestion.stop())
    if (digestion !== null && used !== null) mover = used.startMover()
    const deliverer = roles.includes('deliver') ? startDeliverer(app, options.channels ?? CHANNELS) : null
    if (deliverer !== null) stops.push(() => deliverer.stop(DELIVERY_GRACE_MS))
    const http = await createHttpService(app, {
      contract,
      handlers,
      authenticate: (request, caller) =>
        authenticator.authenticate(
          {
            authorization: request.headers.authorization,
            accessToken: request.cookies[`${app.config.cookiePrefix}svc_access`],
          },
          caller,
        ),
      refuseUnauthenticated: () => {
        throw unauthenticated()
      },
      api: roles.includes('api'),
      intake: intake === null ? null : (request, response) => intake.handle(request, response),
      health: { readiness: () => readiness(app, intake, used) },
      metrics: {
        figures: async () => [
          ...passwordFigures(app),
          ...(intake === null ? [] : [...(await intakeFigures(intake)), ...(await lagFigures(app))]),
          ...(used === null ? [] : await logFigures(used, mover)),
          ...(digestion === null ? [] : digestFigures(digestion.figures())),
          ...(deliverer === null ? [] : await deliveryFigures(app.db, deliverer.figures())),
          ...(await backupFigures(app)),
        ],
      },
    })
    const port = await http.listen()
    // With PORT=0 the system chose it.
    app.egress.protectPort(port)
    canary?.start(port, options.canary)
    const exporter = await startExport(app, http.readMetrics)
    return {
      port,
      canary,
      publicUrl: app.config.port === 0 ? `http://127.0.0.1:${port}` : app.config.publicUrl,
      drain: async () => digestion?.drain(),
      async close() {
        const watched = canary?.stop() ?? Promise.resolve()
        const exported = exporter?.stop(EXPORT_GRACE_MS)
        await http.close(REQUEST_GRACE_MS)
        await withinGrace(EXPORT_GRACE_MS, exported ?? Promise.resolve())
        await withinGrace(CANARY_GRACE_MS, watched)
        try {
          await stopWork()
        } finally {
          const signs = roles.includes('schedule') && options.jobs !== false
          if (!(await withinGrace(AUDIT_GRACE_MS, closeAudit(app, signs))))
            app.log.warn({ grace_ms: AUDIT_GRACE_MS }, 'the audit log lacks refused requests of the last minute')
        }
      },
    }
  } catch (error) {
    await stopWork()
    throw error
  }
}

/** The exporter is loaded only where it is switched on. */
async function startExport(app: App, read: () => Promise<ReadMetric[]>): Promise<MetricsExporter | null> {
  const { otlp } = app.config
  if (otlp === null) return null
  const { exportMetrics } = await import('./export-metrics.ts')
  return exportMetrics(app, otlp, read)
}

/** Writes what the audit log still counts, and signs its end. */
async function closeAudit(app: App, signs: boolean): Promise<void> {
  await flushDenials(app)
  if (!signs) return
  await signHeads(app).catch((error: unknown) =>
    app.log.warn(
      { err: error },
      'the ends of the audit logs could not be signed; this happens within a minute of the next start',
    ),
  )
}

/** Commits what was accepted. What the database cannot take was not acknowledged, and clients send it again. */
async function closeIntake(app: App, intake: Intake): Promise<void> {
  if (!(await withinGrace(INTAKE_GRACE_MS, intake.close())))
    app.log.warn(
      { grace_ms: INTAKE_GRACE_MS },
      'the intake could not write its last requests because the database does not answer; their clients got no acknowledgement',
    )
}

/** Two for commits of the spool, two for keys and the rest. */
const INTAKE_CONNECTIONS = 4
/** Its statements take milliseconds. An SDK must get a 503 before its own timeout. */
const INTAKE_SILENCE_MS = 10_000

/** The intake has its own connections: SDKs must not wait for slow requests of the API. */
function openIntake(
  app: App,
  connectionString: string,
  handOver: HandOver | null,
  used: OpenLog | null,
  isUncounted: Canary['isOwn'] | undefined,
): Intake {
  const pool = createPool({
    connectionString,
    name: 'faultline intake',
    silenceMs: INTAKE_SILENCE_MS,
    max: INTAKE_CONNECTIONS,
    onError: (error) =>
      app.log.warn({ err: error.message }, 'an idle database connection of the intake was lost; a new one replaces it'),
  })
  const db = new Database(pool)
  const intake = createIntake(
    { ...app, db, tx: (work) => db.tx(work) },
    {
      addressOf: clientAddressReader(app.config.trustedProxies),
      handOver,
      log: used?.log ?? null,
      ...(isUncounted === undefined ? {} : { isUncounted }),
    },
  )
  const stop = app.bus.on('project_key', (payload) => {
    const key = typeof payload === 'object' && payload !== null && 'public_key' in payload ? payload.public_key : null
    if (typeof key === 'string') intake.keys.drop(key)
    else intake.keys.expireAll()
  })
  return {
    ...intake,
    async close() {
      stop()
      await intake.close()
      await db.close()
    },
  }
}

type Digestion = { figures(): DigestSums; drain(): Promise<void>; stop(): Promise<void> }

async function startDigestion(
  app: App,
  connectionString: string,
  how: ServiceOptions['digestion'],
  handOvers: readonly ThreadHandOver[] | null,
): Promise<Digestion> {
  if (how === 'thread') {
    const supervisor = superviseDigestion(app, connectionString, handOvers)
    return {
      figures: () => supervisor.figures(),
      drain: () => Promise.resolve(),
      stop: () => supervisor.stop(DIGEST_GRACE_MS),
    }
  }
  const digester = await createDigester(app, handOvers?.[0]?.connect(), symbolicateFor)
  const stopping = new AbortController()
  const running = how === 'inline' ? digester.run(stopping.signal) : Promise.resolve()
  return {
    figures: () => digester.figures,
    drain: () => digester.drain(),
    async stop() {
      stopping.abort()
      await running
      await digester.close()
    },
  }
}

const MAX_WAIT_MS = 2_000
/** With an older entry in the spool the process is not ready. */
const MAX_BACKLOG_AGE_MS = 15 * 60_000

/** Not ready while migrations of this version are missing. Newer ones, of another process, are fine. */
async function migrationsCheck(app: App): Promise<{ ok: boolean; detail: string }> {
  const missing = await within(MAX_WAIT_MS, pendingMigrations(app.db)).catch(() => null)
  if (missing === null) return { ok: false, detail: 'unknown' }
  return missing.length === 0
    ? { ok: true, detail: 'up to date' }
    : { ok: false, detail: `missing ${missing.join(', ')}` }
}

const SPOOL_DETAILS: Readonly<Record<ReturnType<Intake['spool']['readiness']>, string>> = {
  open: 'open',
  full: 'full: the backlog has reached MAX_BACKLOG',
  disk: 'closed: the disk of the database is nearly full',
  down: 'closed: the database does not accept writes',
}
const LOG_DETAILS: typeof SPOOL_DETAILS = {
  open: 'open',
  full: 'full: too many requests wait for the intake log',
  disk: 'closed: the intake log has reached SPOOL_MAX_MB',
  down: 'closed: the intake log does not accept writes',
}

type Check = Readiness['checks'][string]

/**
 * Ready means: the database answers, is migrated, and the intake accepts requests. With a log the intake accepts them
 * without the database, so its process stays ready.
 */
async function readiness(app: App, intake: Intake | null, used: OpenLog | null): Promise<Readiness> {
  const started = app.clock.monotonicMs()
  const database = await within(MAX_WAIT_MS, ping(app.db)).then(
    () => ({ ok: true, detail: `${Math.round(app.clock.monotonicMs() - started)} ms` }),
    () => ({ ok: false, detail: 'The database does not answer.' }),
  )
  const spool = intake?.spool.readiness() ?? 'open'
  const backlog =
    intake === null || !database.ok ? null : await within(MAX_WAIT_MS, intake.spool.backlog()).catch(() => null)
  const needsNoDatabase = intake !== null && used !== null
  const checks: Record<string, Check> = {
    database,
    migrations: database.ok ? await migrationsCheck(app) : { ok: false, detail: 'unknown' },
    ...(intake === null
      ? {}
      : { spool: { ok: spool === 'open', detail: (used === null ? SPOOL_DETAILS : LOG_DETAILS)[spool] } }),
    ...(used === null ? {} : { intake_log: await logCheck(used) }),
    ...(backlog === null
      ? {}
      : {
          backlog: {
            ok: backlog.oldestAgeMs < MAX_BACKLOG_AGE_MS,
            detail: `${backlog.entries} entries, oldest ${Math.round(backlog.oldestAgeMs / 1000)} s`,
          },
        }),
  }
  const isIgnored = (name: string): boolean =>
    (needsNoDatabase && !database.ok && (name === 'database' || name === 'migrations')) ||
    // Pages and API work without the log.
    (intake === null && name === 'intake_log')
  const ready = Object.entries(checks).every(([name, { ok }]) => ok || isIgnored(name))
  const canary = database.ok ? await within(MAX_WAIT_MS, canaryCheck(app)).catch(() => null) : null
  return { ready, checks: canary === null ? checks : { ...checks, canary } }
}

/** Messages are old while the database is away, and the log still takes more: their age closes nothing. */
async function logCheck(used: OpenLog): Promise<Check> {
  const backlog = await within(MAX_WAIT_MS, used.backlog()).catch(() => null)
  if (backlog === null) return { ok: false, detail: 'The intake log does not answer.' }
  return { ok: true, detail: `${backlog.messages} messages, oldest ${Math.round(backlog.oldestAgeMs / 1000)} s` }
}

/** Says whether alerts arrive. Where they do not, the process can work all the same: taking it away would help no one. */
async function canaryCheck(app: App): Promise<{ ok: boolean; detail: string } | null> {
  const { state, failed_step: step, explanation } = await readCanary(app)
  if (state === 'off') return null
  return { ok: state !== 'broken', detail: step === null ? state : `${state} at ${step}. ${explanation}` }
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

type DigestSupervisor = {
  /** Sums since the service started, over all threads. */
  figures(): DigestThreadReport
  /** Waits at most `graceMs` for each thread to finish its batch. What is not digested stays in the spool. */
  stop(graceMs: number): Promise<void>
}

const NOTHING: DigestThreadReport = { entries: 0, events: 0, duplicates: 0, quarantined: 0, batches: 0 }
const MIN_PAUSE_MS = 200
const MAX_PAUSE_MS = 5_000
/** After a thread ran this long, the next failure starts with the shortest pause again. */
const HEALTHY_MS = 30_000
const HEAP_MB = 512

/**
 * Runs the digest threads, each with shards of its own, and restarts one that ends unexpectedly. What it had not recorded
 * is still in the spool.
 * @param handOvers where the intake of this process hands over what it wrote, one for each thread; null when there is no intake
 */
export function superviseDigestion(
  app: App,
  connectionString: string,
  handOvers: readonly ThreadHandOver[] | null = null,
): DigestSupervisor {
  const { digestThreads } = app.config
  const threads = Array.from({ length: digestThreads }, (_, index) => {
    const shards = SHARD_NUMBERS.filter((shard) => threadOfShard(shard, digestThreads) === index)
    return superviseThread(app, connectionString, shards, handOvers?.[index] ?? null)
  })
  return {
    figures: () => threads.map((thread) => thread.figures()).reduce(sum, NOTHING),
    stop: async (graceMs) => void (await Promise.all(threads.map((thread) => thread.stop(graceMs)))),
  }
}

function superviseThread(
  app: App,
  connectionString: string,
  shards: readonly number[],
  handOver: ThreadHandOver | null,
): DigestSupervisor {
  let stopped = false
  let worker: Worker | null = null
  let past = NOTHING
  let current = NOTHING
  let pauseMs = MIN_PAUSE_MS
  let restart: NodeJS.Timeout | undefined

  const start = (): void => {
    const startedAtMs = app.clock.monotonicMs()
    const handedOver = handOver?.connect() ?? null
    const next = new Worker(new URL('./digest-thread.ts', import.meta.url), {
      name: 'digest',
      workerData: { config: app.config, connectionString, shards, handedOver } satisfies DigestThreadData,
      transferList: handedOver === null ? [] : [handedOver.port],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    worker = next
    next.on('message', (report: DigestThreadReport) => {
      current = report
    })
    next.on('error', (error) => {
      // The next start recovers from a failure while stopping.
      if (!stopped) app.log.error({ err: error }, 'the digest thread failed')
    })
    next.once('exit', (code) => {
      past = sum(past, current)
      current = NOTHING
      worker = null
      handOver?.disconnect()
      if (stopped) return
      if (app.clock.monotonicMs() - startedAtMs > HEALTHY_MS) pauseMs = MIN_PAUSE_MS
      app.log.error({ code, restart_in_ms: pauseMs }, 'the digest thread ended unexpectedly and restarts')
      restart = setTimeout(start, pauseMs)
      restart.unref()
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
    })
  }
  start()

  return {
    figures: () => sum(past, current),
    async stop(graceMs) {
      stopped = true
      clearTimeout(restart)
      const running = worker
      if (running === null) return
      const ended = new Promise<void>((resolve) => {
        running.once('exit', () => resolve())
      })
      running.postMessage('stop' satisfies DigestThreadCommand)
      await withinGrace(graceMs, ended)
      await running.terminate()
    },
  }
}

const sum = (a: DigestThreadReport, b: DigestThreadReport): DigestThreadReport => ({
  entries: a.entries + b.entries,
  events: a.events + b.events,
  duplicates: a.duplicates + b.duplicates,
  quarantined: a.quarantined + b.quarantined,
  batches: a.batches + b.batches,
})
