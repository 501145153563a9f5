import pg from 'pg'

/**
 * Statements that a member wrote: each in a read-only transaction of its own under another role, on connections of their
 * own, with bounds of time, rows and bytes. The caller has checked them; this is the second wall.
 */

type ReadOnlyOptions = {
  readonly role: string
  /** Settings of the transaction, such as `statement_timeout`. */
  readonly settings: Readonly<Record<string, string>>
}

type ReadLimits = { readonly rows: number; readonly bytes: number }

export type ReadField = {
  readonly name: string
  /** `oid` of its type. */
  readonly typeId: number
}

export type ReadRows = {
  readonly fields: readonly ReadField[]
  /** Values as PostgreSQL prints them. */
  readonly rows: readonly (readonly (string | null)[])[]
  /** Whether there are more rows, or more bytes than the limit. */
  readonly isCut: boolean
}

/** One read-only transaction. */
type ReadOnlyTransaction = {
  /** The plan of a statement, as `explain (format json)` gives it. */
  explain(sql: string): Promise<unknown>
  /** Opens a cursor for a statement and reads from it. Can be called once. */
  read(sql: string, limits: ReadLimits): Promise<ReadRows>
}

/** A pool of few connections for such statements: they wait for each other, not for the service. */
export class ReadOnlyDatabase {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** Runs work in a transaction that is always rolled back. The role cannot be changed back by what it reads. */
  async run<T>({ role, settings }: ReadOnlyOptions, work: (tx: ReadOnlyTransaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    let isUsable = false
    try {
      await client.query('begin read only')
      for (const [name, value] of [...Object.entries(settings), ['role', role]])
        await client.query('select set_config($1, $2, true)', [name, value])
      return await work({
        explain: (sql) => explain(client, sql),
        async read(sql, limits) {
          await client.query(extended(`declare rows_read no scroll cursor for ${sql}`))
          return read(client, limits)
        },
      })
    } finally {
      // It fails on a connection that is lost, or that was ended in the middle of an answer.
      await client.query('rollback').then(
        () => (isUsable = true),
        () => {},
      )
      client.release(!isUsable)
    }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}

/** The extended protocol takes one statement only. */
const extended = (text: string): pg.QueryConfig => {
  const config: pg.QueryConfig & { queryMode: 'extended' } = { text, queryMode: 'extended' }
  return config
}

async function explain(client: pg.ClientBase, sql: string): Promise<unknown> {
  const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(extended(`explain (format json) ${sql}`))
  return rows[0]?.['QUERY PLAN']
}

const PLAIN: pg.CustomTypesConfig = { getTypeParser: () => (text: string) => text }

/** Reads rows one by one. Beyond the limit of bytes it ends the connection: the rest of the answer is not received. */
function read(client: pg.PoolClient, limits: ReadLimits): Promise<ReadRows> {
  return new Promise((resolve, reject) => {
    const rows: (string | null)[][] = []
    let bytes = 0
    let isDone = false
    const config: pg.QueryConfig & { rowMode: 'array' } = {
      ...extended(`fetch ${limits.rows + 1} from rows_read`),
      rowMode: 'array',
      types: PLAIN,
    }
    const query = new pg.Query<(string | null)[]>(config)
    const finish = (fields: readonly pg.FieldDef[], isCut: boolean): void => {
      if (isDone) return
      isDone = true
      resolve({ fields: fields.map(({ name, dataTypeID }) => ({ name, typeId: dataTypeID })), rows, isCut })
    }
    query.on('row', (row, result) => {
      if (isDone) return
      bytes += row.reduce((sum, cell) => sum + (cell?.length ?? 0), 0)
      if (bytes > limits.bytes) {
        finish(result?.fields ?? [], true)
        if (client instanceof pg.Client) client.connection.stream.destroy()
      } else if (rows.length < limits.rows) rows.push(row)
      else finish(result?.fields ?? [], true)
    })
    query.on('end', (result) => finish(result.fields, false))
    query.on('error', (error) => {
      if (!isDone) reject(error)
    })
    client.query(query)
  })
}
