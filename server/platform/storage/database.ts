import { pipeline } from 'node:stream/promises'
import type { Readable } from 'node:stream'
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  PostgresAdapter,
  PostgresQueryCompiler,
  QueryCreator,
  type QueryExecutor,
  type QueryExecutorProvider,
  type QueryResult,
} from 'kysely'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { arrayText } from './array-text.ts'
import type { CopyRows } from './copy-in.ts'
import type { Tables } from './tables.gen.ts'

/** SQL text with its values. A statement with a `name` is prepared: each connection parses it once. */
export type Statement = {
  /** Unique for its text; at most 63 characters. */
  readonly name?: string
  readonly text: string
  readonly values?: readonly unknown[]
}

type StatementResult<Row> = {
  readonly rows: Row[]
  /** Rows returned or changed; null for statements that do neither. */
  readonly rowCount: number | null
}

/** Runs work with a client of `pg`. A `fragile` one leaves the connection unusable when it fails. */
type WithClient = <T>(work: (client: pg.ClientBase) => Promise<T>, fragile?: 'fragile') => Promise<T>

/**
 * Query functions run on it: the pool, a reserved connection or a transaction. Offers Kysely's query builder
 * (`selectFrom`, `insertInto`, …; also for `sql` templates), statements and COPY.
 */
export abstract class Connection extends QueryCreator<Tables> implements QueryExecutorProvider {
  readonly #withClient: WithClient
  readonly #executor: QueryExecutor

  protected constructor(withClient: WithClient) {
    const executor = executorOn(withClient)
    super({ executor })
    this.#withClient = withClient
    this.#executor = executor
  }

  /** For Kysely's `sql` template. */
  getExecutor(): QueryExecutor {
    return this.#executor
  }

  /** Runs a statement on the driver itself: without building and compiling a query. `Row` must name what it returns. */
  query<Row extends pg.QueryResultRow = Record<string, unknown>>(
    statement: string | Statement,
    values?: readonly unknown[],
  ): Promise<StatementResult<Row>> {
    return this.#withClient((client) => run<Row>(client, statement, values))
  }

  /**
   * Reads the result of a query by binary COPY: the driver reads other results as text, a `bytea` as hexadecimal.
   * @param query takes no parameters: never text of a user
   * @param fields number of columns
   */
  copyOut(query: string, fields: number): Promise<(Buffer | null)[][]> {
    return this.#withClient(async (client) => {
      const chunks: Buffer[] = []
      for await (const chunk of client.query(copyTo(`copy (${query}) to stdout (format binary)`)))
        if (Buffer.isBuffer(chunk)) chunks.push(chunk)
      return readCopied(Buffer.concat(chunks), fields)
    }, 'fragile')
  }
}

/** The part of a connection that runs statements: the interface of stores that must not depend on the caller's transaction. */
export type Statements = Pick<Connection, 'query'>

/** The part of a transaction that runs statements and takes rows by COPY. */
export type RowTarget = Statements & Pick<Tx, 'copyIn' | 'sendRows'>

/** The pool. Each statement takes a connection for itself; {@link Database.tx} keeps one for a transaction. */
export class Database extends Connection {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    super(async (work, fragile) => {
      const client = await pool.connect()
      let destroy = false
      try {
        return await work(client)
      } catch (error) {
        destroy = fragile !== undefined
        throw error
      } finally {
        // The pool itself drops a client that lost its connection.
        client.release(destroy)
      }
    })
    this.#pool = pool
  }

  /**
   * Runs work in one transaction, read committed. Rolls back when the work throws.
   * @throws AbortedTransactionError when the work caught the error of a statement: PostgreSQL would not commit it
   */
  async tx<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    const tx = new Tx(client)
    let broken: Error | undefined
    try {
      await client.query('begin')
      const result = await work(tx)
      await tx.runDeferred()
      await tx.commit()
      return result
    } catch (error) {
      tx.undo()
      await tx.end()
      await client.query('rollback').catch((failure: unknown) => {
        broken = failure instanceof Error ? failure : new Error(String(failure))
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** Takes a connection out of the pool until its `release()`. */
  async reserve(listeners: ConnectionListeners = {}): Promise<ReservedConnection> {
    return new ReservedConnection(await this.#pool.connect(), listeners)
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}

/** Work at the end of a transaction, for everything that was deferred to it: one statement instead of many. */
export type Deferred<T> = (tx: Tx, items: readonly T[]) => Promise<void>

/**
 * One transaction on one connection. Its statements run one after the other, in the order of their calls; one that is
 * called before the answer to another is sent at once. After its end it refuses them.
 */
export class Tx extends Connection {
  readonly #queue: Queue
  /** Each item with its work, in the order in which they were deferred. */
  #deferred: { readonly work: Deferred<never>; readonly item: unknown }[] = []
  readonly #onUndone: (() => void)[] = []

  /** @internal Use {@link Database.tx}. */
  constructor(client: pg.ClientBase) {
    const queue = new Queue(client)
    super((work, fragile) => (fragile === undefined ? queue.add(work) : queue.alone(work)))
    this.#queue = queue
  }

  /**
   * Writes rows by binary COPY.
   * @param into the table and its columns, in the order of the rows' fields: `logs (id, body)`; never text of a user
   */
  copyIn(into: string, rows: CopyRows): Promise<void> {
    return this.#queue.add((client) => copyRows(client, into, rows))
  }

  /**
   * Sends a statement without waiting for its answer, which no step needs: the caller's work and the database's go on at the
   * same time. When it fails, what is awaited next throws its error, at the latest the commit.
   */
  send(statement: string | Statement): void {
    this.#queue.send((client) => run(client, statement))
  }

  /** Does {@link copyIn} without waiting, as {@link send}. */
  sendRows(into: string, rows: CopyRows): void {
    this.#queue.send((client) => copyRows(client, into, rows))
  }

  /**
   * Sends a statement that inserts rows with references. PostgreSQL looks up each of them with a statement of its own,
   * which the setting of the pool would plan again for each row: 30 µs, for 5 µs of work.
   */
  sendReferring(statement: Statement): void {
    this.send('set local plan_cache_mode = auto')
    this.send(statement)
    this.send('set local plan_cache_mode = default')
  }

  /**
   * Collects items for work that runs once, with all its items, immediately before the commit: what locks a row that
   * many transactions need locks it last and briefly. The same function is the same work.
   */
  defer<T>(work: Deferred<T>, items: readonly T[]): void {
    for (const item of items) this.#deferred.push({ work, item })
  }

  /** @internal Runs what was deferred, also what this defers itself. */
  async runDeferred(): Promise<void> {
    while (this.#deferred.length > 0) {
      const deferred = Map.groupBy(this.#deferred, ({ work }) => work)
      this.#deferred = []
      for (const [work, ofWork] of deferred)
        await work(
          this,
          ofWork.map(({ item }) => item as never),
        )
    }
  }

  /** Work for the case that the transaction, or the part of it that is running, is undone: what memory learned is forgotten. */
  onUndone(forget: () => void): void {
    this.#onUndone.push(forget)
  }

  /** @internal */
  undo(from = 0): void {
    for (const forget of this.#onUndone.splice(from)) forget()
  }

  /** Runs a part of the transaction that may fail: when it throws, only its statements, and what it deferred, are undone. */
  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const deferredBefore = this.#deferred.length
    const undoneBefore = this.#onUndone.length
    await this.query('savepoint part')
    try {
      const result = await work()
      await this.query('release savepoint part')
      return result
    } catch (error) {
      this.#deferred.length = deferredBefore
      this.undo(undoneBefore)
      // On a lost connection this fails as well, and so does the next statement; the first error says more.
      await this.#queue.recover('rollback to savepoint part').catch(() => {})
      throw error
    }
  }

  /** @internal @throws AbortedTransactionError, or the error of a statement that was sent without waiting */
  async commit(): Promise<void> {
    const committing = this.#queue.add((client) => client.query('commit'))
    const [{ command }] = await Promise.all([committing, this.end()])
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  /** @internal Waits for the running statements and refuses further ones. */
  end(): Promise<void> {
    return this.#queue.close()
  }
}

/** The bytes of a `COPY`; `rowCount` is known at their end. */
export type CopiedBytes = Readable & { readonly rowCount: number }

type ConnectionListeners = {
  /** Called once when the connection breaks. Release it then. */
  readonly onLost?: () => void
  /** Called for each NOTIFY on a channel that the connection listens to. */
  readonly onNotification?: (payload: string | undefined) => void
}

/**
 * A connection outside a transaction, for what belongs to the session: advisory locks, LISTEN, settings, VACUUM.
 * Each statement commits by itself.
 */
export class ReservedConnection extends Connection {
  readonly #client: pg.PoolClient
  readonly #unlisten: () => void
  #isReleased = false

  constructor(client: pg.PoolClient, { onLost, onNotification }: ConnectionListeners) {
    super((work) => work(client))
    this.#client = client
    let isLost = false
    const lose = (): void => {
      if (isLost) return
      isLost = true
      onLost?.()
    }
    const notify = ({ payload }: pg.Notification): void => onNotification?.(payload)
    client.on('error', lose).on('end', lose).on('notification', notify)
    this.#unlisten = () => client.off('error', lose).off('end', lose).off('notification', notify)
  }

  /**
   * Runs a `COPY … TO STDOUT`. Its bytes must be read to the end, or the connection released with `destroy`.
   * @param statement never text of a user
   */
  copyTo(statement: string): CopiedBytes {
    return this.#client.query(copyTo(statement))
  }

  /**
   * Runs a `COPY … FROM STDIN` with the bytes of a source. When it throws, release the connection with `destroy`.
   * @param statement never text of a user
   * @returns the number of rows
   */
  async copyFrom(statement: string, source: AsyncIterable<Buffer>): Promise<number> {
    const target = this.#client.query(copyFrom(statement))
    await pipeline(source, target)
    return target.rowCount
  }

  /** @param destroy closes the connection; for one that broke, or whose settings are not for others */
  release(destroy = false): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#unlisten()
    this.#client.release(destroy)
  }
}

async function run<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  statement: string | Statement,
  values?: readonly unknown[],
): Promise<StatementResult<Row>> {
  if (typeof statement === 'string') return client.query<Row>({ text: statement, values: written(values) })
  return client.query<Row>({ ...statement, values: written(statement.values) })
}

const written = (values: readonly unknown[] = []): unknown[] =>
  values.map((value) => (Array.isArray(value) ? (arrayText(value) ?? value) : value))

type Work<T> = (client: pg.ClientBase) => Promise<T>

/** The statements of a transaction: sent as they come (`pipeline` of the driver), answered in this order. */
class Queue {
  readonly #client: pg.ClientBase
  readonly #running = new Set<Promise<unknown>>()
  /** Has the connection for itself. */
  #alone: Promise<unknown> | undefined
  /** Resolves when the last statement that was sent without waiting, and those before it, have their answers. */
  #sent: Promise<void> | undefined
  /** The first error of a statement that was sent without waiting: those after it fail because of it. */
  #unseen: { readonly error: unknown } | undefined
  #isClosed = false

  constructor(client: pg.ClientBase) {
    this.#client = client
    setPipeline(client, true)
  }

  async add<T>(work: Work<T>): Promise<T> {
    this.#assertOpen()
    const before = this.#sent
    if (this.#alone !== undefined) await this.#afterAlone()
    try {
      const result = await this.#run(work)
      await before
      this.#throwUnseen()
      return result
    } catch (error) {
      await before
      this.#throwUnseen()
      throw error
    }
  }

  send(work: Work<unknown>): void {
    this.#assertOpen()
    const sent = this.add(work)
      .then(
        () => {},
        (error: unknown) => {
          this.#unseen ??= { error }
        },
      )
      .finally(() => {
        this.#running.delete(sent)
      })
    this.#running.add(sent)
    this.#sent = sent
  }

  /** For COPY to here, which the driver does not pipeline. */
  async alone<T>(work: Work<T>): Promise<T> {
    this.#assertOpen()
    if (this.#alone !== undefined) await this.#afterAlone()
    const result = this.#runAlone(work, Promise.allSettled(this.#running))
    this.#alone = result.then(
      () => {},
      () => {},
    )
    return result
  }

  async #runAlone<T>(work: Work<T>, before: Promise<unknown>): Promise<T> {
    try {
      await before
      this.#throwUnseen()
      setPipeline(this.#client, false)
      return await this.#run(work)
    } finally {
      setPipeline(this.#client, true)
      this.#alone = undefined
    }
  }

  /** Runs a statement that makes the transaction usable again after an error. */
  async recover(statement: string): Promise<void> {
    await this.#settled()
    this.#unseen = undefined
    await this.add((client) => run(client, statement))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#settled()
    setPipeline(this.#client, false)
  }

  async #afterAlone(): Promise<void> {
    while (this.#alone !== undefined) {
      await this.#alone
      this.#assertOpen()
    }
  }

  async #run<T>(work: Work<T>): Promise<T> {
    const running = work(this.#client)
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0 || this.#alone !== undefined)
      await Promise.allSettled([...this.#running, this.#alone])
  }

  #throwUnseen(): void {
    if (this.#unseen !== undefined) throw this.#unseen.error
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new Error('the transaction has ended')
  }
}

/** Only while nothing runs. */
const setPipeline = (client: pg.ClientBase, pipeline: boolean): void => void Object.assign(client, { pipeline })

const copyRows = (client: pg.ClientBase, into: string, rows: CopyRows): Promise<void> =>
  new Promise((resolve, reject) => {
    client.query(new CopyIn(into, rows.finish(), (error) => (error == null ? resolve() : reject(error))))
  })

/** `COPY … FROM STDIN` with its rows right behind: PostgreSQL skips them when it refuses the statement. */
class CopyIn extends pg.Query {
  constructor(into: string, parts: readonly Buffer[], done: (error: Error | null | undefined) => void) {
    const text = `copy ${into} from stdin (format binary)`
    super(text, done)
    this.submit = (connection) => {
      const { stream } = connection
      stream.cork()
      connection.query(text)
      for (const part of parts) {
        const header = Buffer.from('d\0\0\0\0')
        header.writeInt32BE(part.length + 4, 1)
        stream.write(header)
        stream.write(part)
      }
      stream.write(COPY_DONE)
      stream.uncork()
    }
  }

  handleCopyInResponse(): void {}
}
const COPY_DONE = Buffer.from('c\0\0\0\x04')

const COMPILER = new PostgresQueryCompiler()
const ADAPTER = new PostgresAdapter()

const executorOn = (withClient: WithClient): QueryExecutor =>
  new DefaultQueryExecutor(COMPILER, ADAPTER, {
    provideConnection: (consumer) => withClient((client) => consumer(kyselyConnection(client))),
  })

const CHANGES: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** A client of `pg` as Kysely wants it. */
function kyselyConnection(client: pg.ClientBase): DatabaseConnection {
  return {
    async executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
      const { command, rowCount, rows } = await client.query<R & pg.QueryResultRow>(compiled.sql, [
        ...compiled.parameters,
      ])
      return CHANGES.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0), rows } : { rows }
    },
    streamQuery() {
      throw new Error('queries are not streamed')
    },
  }
}

/** Signature, flags and length of the header extension. */
const HEADER_BYTES = 11 + 4 + 4

/**
 * Rows of a `COPY … TO STDOUT (FORMAT binary)` (PostgreSQL documentation: COPY, "Binary Format"); fields share memory
 * with `bytes`.
 * @throws Error when the stream is incomplete, or its rows have another number of fields
 */
export function readCopied(bytes: Buffer, fields: number): (Buffer | null)[][] {
  const rows: (Buffer | null)[][] = []
  let at = HEADER_BYTES + (bytes.length >= HEADER_BYTES ? bytes.readInt32BE(HEADER_BYTES - 4) : 0)
  for (;;) {
    if (at + 2 > bytes.length) throw new Error('a copied answer was cut off')
    const count = bytes.readInt16BE(at)
    at += 2
    if (count === -1) return rows
    if (count !== fields) throw new Error(`a copied row has ${count} fields instead of ${fields}`)
    const row: (Buffer | null)[] = []
    for (let field = 0; field < count; field++) {
      if (at + 4 > bytes.length) throw new Error('a copied answer was cut off')
      const length = bytes.readInt32BE(at)
      at += 4
      if (length > bytes.length - at) throw new Error('a copied answer was cut off')
      row.push(length < 0 ? null : bytes.subarray(at, at + length))
      at += Math.max(0, length)
    }
    rows.push(row)
  }
}
