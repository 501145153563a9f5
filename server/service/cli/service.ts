import { flushDenials } from '../../history/audit/denials.ts'
import { signHeads } from '../../history/audit/signed-heads.ts'
import { PROCESS_ROLES } from '../../config/environment.ts'
import type { App } from '../../platform/context/app.ts'
import { createAuthenticator } from '../../identity/auth/authenticate.ts'
import { clientAddressReader } from '../http/request-guard.ts'
import { contract } from '../api/contract.ts'
import { handlers } from '../api/handlers.ts'
import type { ReadMetric } from '../http/otlp-metrics.ts'
import { missingStoreText } from '../doctor/check-stores.ts'
import { createHttpService } from '../http/server.ts'
import { createIntake, type Intake, type IntakeOptions } from '../../ingest/intake/create-intake.ts'
import { runJobs } from '../../platform/jobs/run-jobs.ts'
import { withinGrace } from '../../platform/kernel/abortable.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import { createHandOvers, type HandOvers } from '../../ingest/spool/hand-over.ts'
import { type Mover, openIntakeLog } from '../../ingest/spool/open-intake-log.ts'
import { openSpoolFile } from '../../ingest/spool/spool-file.ts'
import { Database } from '../../platform/storage/database.ts'
import { createPool } from '../../platform/storage/pool.ts'
import { createCanary, type Canary, type CanaryTiming } from '../canary/create-canary.ts'
import { symbolicateFor } from '../../symbols/symbolication/symbolicator.ts'
import { createDigester, type DigestSums } from '../../ingest/digest/digester.ts'
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
} from './figures.ts'
import type { MetricsExporter } from './export-metrics.ts'
import { readReadiness } from './read-readiness.ts'
import { superviseDigestion } from './supervise-digestion.ts'

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
const FILE_GRACE_MS = 2_000
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
    const isAlone = PROCESS_ROLES.every((role) => roles.includes(role))
    const file =
      app.config.databaseUrl === null
        ? await openSpoolFile(app, { isUsed: handsOver && isAlone && app.config.usesSpoolFile })
        : null
    const handOver = handsOver ? createHandOvers(file) : null
    const canary =
      app.config.canaryMinutes > 0 && (roles.includes('ingest') || roles.includes('api'))
        ? createCanary(app, roles.includes('ingest'))
        : null
    const used = roles.includes('ingest') || roles.includes('digest') ? openIntakeLog(app) : null
    let mover: Mover | null = null
    let digestion: Digestion | null = null
    const intake = roles.includes('ingest')
      ? openIntake(app, connectionString, { handOver, file, log: used?.log ?? null, isUncounted: canary?.isOwn })
      : null
    stops.push(async () => {
      const ended = await Promise.allSettled([
        intake === null ? null : closeIntake(app, intake),
        mover === null ? null : withinGrace(INTAKE_GRACE_MS, mover.stop()),
        digestion?.stop(),
      ])
      await used?.log.close()
      // Nothing is written to it or recorded from it any more. What is not moved now is recovered at the next start.
      if (file !== null && !(await withinGrace(FILE_GRACE_MS, file.close())))
        app.log.warn(
          { grace_ms: FILE_GRACE_MS },
          'the spool file could not be emptied in time: start this version again before a former one',
        )
      for (const one of ended) if (one.status === 'rejected') throw one.reason
    })
    const authenticator = createAuthenticator(app)
    stops.push(() => Promise.resolve(authenticator.close()))
    if (roles.includes('schedule') && options.jobs !== false) {
      const jobs = runJobs(app, connectionString, listTasks(app.config))
      stops.push(() => jobs.stop())
    }
    digestion = roles.includes('digest')
      ? await startDigestion(app, connectionString, options.digestion, handOver)
      : null
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
      health: { readiness: () => readReadiness(app, intake, used) },
      metrics: {
        figures: async () => [
          ...passwordFigures(app),
          ...(intake === null ? [] : [...(await intakeFigures(intake)), ...(await lagFigures(app))]),
          ...(used === null ? [] : await logFigures(used, mover)),
          ...(digestion === null ? [] : digestFigures(digestion.figures(), digestion.threads())),
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
  {
    isUncounted,
    ...storing
  }: Pick<IntakeOptions, 'handOver' | 'file' | 'log'> & { readonly isUncounted: Canary['isOwn'] | undefined },
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
      ...storing,
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

type Digestion = { figures(): DigestSums; threads(): number; drain(): Promise<void>; stop(): Promise<void> }

async function startDigestion(
  app: App,
  connectionString: string,
  how: ServiceOptions['digestion'],
  handOvers: HandOvers | null,
): Promise<Digestion> {
  if (how === 'thread') {
    const supervisor = superviseDigestion(app, connectionString, handOvers)
    return {
      figures: () => supervisor.figures(),
      threads: () => supervisor.threads(),
      drain: () => Promise.resolve(),
      stop: () => supervisor.stop(DIGEST_GRACE_MS),
    }
  }
  const digester = await createDigester(app, handOvers?.to(0).connect(), symbolicateFor)
  const stopping = new AbortController()
  const running = how === 'inline' ? digester.run(stopping.signal) : Promise.resolve()
  return {
    figures: () => digester.figures(),
    threads: () => 1,
    drain: () => digester.drain(),
    async stop() {
      stopping.abort()
      await running
      await digester.close()
    },
  }
}
