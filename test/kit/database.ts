import { randomBytes } from 'node:crypto'
import pg from 'pg'

export const TEMPLATE = 'faultline_template'

/** The same server with another database. */
export function databaseUrl(connectionString: string, database: string): string {
  const url = new URL(connectionString)
  url.pathname = `/${database}`
  return url.toString()
}

/** Clones a new database from the migrated template; `drop` fails while another connection is open. */
export async function cloneDatabase(postgres: string): Promise<{ connectionString: string; drop(): Promise<void> }> {
  const name = `test_${process.pid}_${randomBytes(5).toString('hex')}`
  await asAdmin(postgres, (client) => client.query(`create database ${name} template ${TEMPLATE} strategy file_copy`))
  return {
    connectionString: databaseUrl(postgres, name),
    async drop() {
      await asAdmin(postgres, async (client) => {
        const left = await connectionsLeft(client, name)
        await client.query(`drop database ${name} with (force)`)
        if (left.length > 0) throw new Error(`the test left database connections open: ${left.join(', ')}`)
      })
    },
  }
}

/** PostgreSQL notices a closed connection after a moment; what is still there after 3 s was leaked. */
async function connectionsLeft(client: pg.Client, database: string): Promise<string[]> {
  const deadline = performance.now() + 3_000
  for (;;) {
    const { rows } = await client.query<{ name: string }>(
      `select application_name as name from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [database],
    )
    if (rows.length === 0 || performance.now() > deadline) return rows.map((row) => row.name)
    await client.query('select pg_sleep(0.02)')
  }
}

async function asAdmin<T>(postgres: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl(postgres, 'postgres') })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
