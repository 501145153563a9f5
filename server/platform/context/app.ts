import pino, { type Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Bus } from '../storage/bus.ts'
import type { Database, Tx } from '../storage/database.ts'
import type { ReadOnlyDatabase } from '../storage/read-only.ts'
import type { Sealer } from '../storage/seal.ts'
import type { Egress } from './egress.ts'
import type { AuditKey } from './audit-key.ts'
import type { FactSubscriber } from './actor.ts'
import type { Operations } from './operations.ts'
import type { Mailer } from './mail.ts'
import type { PasswordHasher } from './passwords.ts'
import type { ResolveTxt } from './txt-records.ts'

/**
 * The means of an operation: time, storage, secrets, mail, outgoing requests. Built once by `server/service/app.ts`,
 * passed to every operation.
 */
export type App = {
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  readonly db: Database
  /** Runs work in one transaction of `db`; see {@link Database.tx}. No network call inside. */
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** For statements that members wrote. */
  readonly readOnly: ReadOnlyDatabase
  readonly sealer: Sealer
  readonly auditKey: AuditKey
  readonly bus: Bus
  readonly mail: Mailer
  readonly passwords: PasswordHasher
  /** For every address that a user can type. */
  readonly egress: Egress
  readonly resolveTxt: ResolveTxt
  /** Subscribers that receive facts; `server/service/app.ts` has the list. */
  readonly factSubscribers: readonly FactSubscriber[]
  /** The subscribers that tell no one: the audit log. */
  readonly quietSubscribers: readonly FactSubscriber[]
  /** See {@link quietly}. */
  readonly isQuiet?: true
  /** How long the oldest request of a project has waited for digestion, in milliseconds; 0 when none waits. */
  readonly lagMs: (projectId: string) => Promise<number>
  /** Operations of the product API, for callers inside the service. */
  readonly operations: Operations
  close(): Promise<void>
}

/** State of one App (caches, queues), created at first use and collected with the App. */
export function perApp<T>(make: (app: App) => T): (app: App) => T {
  const states = new WeakMap<App, T>()
  return (app) => {
    const state = states.get(app) ?? make(app)
    states.set(app, state)
    return state
  }
}

/** Fields in which PostgreSQL quotes the refused row or value. */
const QUOTING = ['detail', 'where', 'hint', 'internalQuery']

/**
 * An error as it is logged. Database errors quote the refused values, which may be personal data: they are removed, the
 * reason stays. A value that is no error is returned unchanged: logging must not throw.
 */
export function errorForLog(error: Error): pino.SerializedError
export function errorForLog(error: unknown): unknown
export function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const shown = pino.stdSerializers.err(error)
  if (!('code' in error) || typeof error.code !== 'string' || !/^[0-9A-Z]{5}$/.test(error.code)) return shown
  for (const field of QUOTING) delete shown[field]
  const quoted = /: ".*"/s.exec(error.message)?.[0]
  if (quoted !== undefined) {
    shown.message = shown.message.replace(quoted, ': "…"')
    shown.stack = shown.stack.replace(quoted, ': "…"')
  }
  return shown
}

/**
 * The app for an import: its changes are in the activity and the audit log, and no notification, mail, alert or webhook
 * comes from them.
 */
export const quietly = perApp((app): App => ({ ...app, factSubscribers: app.quietSubscribers, isQuiet: true }))
