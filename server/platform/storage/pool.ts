import { Socket } from 'node:net'
import pg from 'pg'
import { unavailable } from '../kernel/errors.ts'

// bigint counts stay far below 2^53; dates stay as the text PostgreSQL gives, a day has no time zone.
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)
types.setTypeParser(pg.types.builtins.DATE, (text: string) => text)

type PoolOptions = {
  readonly connectionString: string
  /** Shown in pg_stat_activity. */
  readonly name: string
  readonly max: number
  /**
   * How long a connection may wait for an answer before it counts as dead: a network that drops packets reports nothing.
   * At least as long as a statement may take. Default 35 s.
   */
  readonly silenceMs?: number
  /** Called when an idle connection breaks; without a listener that would end the process. */
  readonly onError: (error: Error) => void
}

/** An idle connection takes two megabytes of the database's memory; opening one takes milliseconds. */
const IDLE_MS = 10_000
const STATEMENT_MS = 30_000
const SILENCE_MS = 35_000

/**
 * A pool whose sessions use UTC and cancel statements that hang. Prepared statements are planned at every
 * execution: a plan cached while a table was empty (as each day's partition is at first) reads the whole table once it is full.
 * Measured with 40,000 events: 300 ms instead of 9 to find 1,000 ids.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const { silenceMs = SILENCE_MS } = options
  const statementMs = Math.min(STATEMENT_MS, silenceMs)
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    application_name: options.name,
    max: options.max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    types,
    // The keep-alive settings let the server notice a dead connection, too, and release its locks.
    options: `-c timezone=UTC -c statement_timeout=${statementMs} -c idle_in_transaction_session_timeout=30000 -c plan_cache_mode=force_custom_plan -c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=30000`,
  })
  pool.on('error', (error) => {
    // The pool does not wait for its connections to close: a database that stops next may end them first.
    if (!pool.ending) options.onError(error)
  })
  // The pool handles errors of idle clients only. A client in use that breaks between two statements would end the
  // process without this; the next statement reports the error.
  pool.on('connect', (client) => {
    client.on('error', () => {})
    endSilence(client, silenceMs)
  })
  return pool
}

/** Ends a connection that stays silent, so that the caller that waits for an answer gets an error. */
function endSilence(client: pg.PoolClient, silenceMs: number): void {
  if (!(client instanceof pg.Client)) return
  const { stream } = client.connection
  if (!(stream instanceof Socket)) return
  stream.setTimeout(silenceMs, () => {
    // An idle connection may be silent; sending on it restarts the timer.
    if ('readyForQuery' in client && client.readyForQuery === true) return
    stream.destroy(Object.assign(new Error('the database does not answer'), { code: 'ETIMEDOUT' }))
  })
}

/** Whether the error means that the database is away, not that the query is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    /^(08|53|57P)/.test(code) ||
    /^(ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)$/.test(code) ||
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
      error.message,
    )
  )
}

/** Whether the database cancelled a statement, most likely because of its timeout. */
export const isStatementCancelled = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '57014'

/** The error message for users while the database is away; `http/` sends it as 503 with Retry-After. */
export const databaseAway = (cause: unknown) =>
  unavailable('The database is not reachable at the moment. Try again in a few seconds.', 5, cause)

/** Host and port of a connection string, as the driver reads it. A host that begins with `/` is a socket's directory. */
export function databaseAddress(connectionString: string): { readonly host: string; readonly port: number } {
  const { host, port } = new pg.Client({ connectionString })
  return { host, port }
}

/** The database cannot be used. The message is one line that tells the operator what to do. */
export class DatabaseStartError extends Error {
  override name = 'DatabaseStartError'
}

/** The disk is full; a later start may succeed. */
export class DiskFullError extends DatabaseStartError {}
