import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Bus } from '../storage/bus.ts'
import type { Database, Tx } from '../storage/database.ts'
import type { ReadOnlyDatabase } from '../storage/read-only.ts'
import type { Sealer } from '../storage/seal.ts'
import type { Egress } from './egress.ts'
import type { AuditKey } from './audit-key.ts'
import type { FactSubscriber } from './fact-context.ts'
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
  /** Operations of the product API, for callers inside the service. */
  readonly operations: Operations
  close(): Promise<void>
}
