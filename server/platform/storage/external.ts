import pg from 'pg'
import { z } from 'zod'
import { DatabaseStartError } from './pool.ts'

/** The oldest supported PostgreSQL; the tests run on it too. */
const MIN_MAJOR_VERSION = 15

const Facts = z.object({
  version: z.coerce.number(),
  encoding: z.string(),
  is_replica: z.boolean(),
  may_create: z.boolean(),
})

/**
 * Checks that Faultline can use the database of `DATABASE_URL`, before anything is written to it.
 * @throws DatabaseStartError with one line that names the problem, without the password of the URL
 */
export async function checkExternalDatabase(
  connectionString: string,
  { timeoutMs = 10_000, minMajor = MIN_MAJOR_VERSION }: { timeoutMs?: number; minMajor?: number } = {},
): Promise<{ majorVersion: number }> {
  const client = await connect(connectionString, timeoutMs)
  try {
    const { rows } = await client.query(`
      select current_setting('server_version_num') as version,
             current_setting('server_encoding') as encoding,
             pg_is_in_recovery() as is_replica,
             has_schema_privilege(current_user, coalesce(current_schema(), 'public'), 'create') as may_create`)
    const facts = Facts.parse(rows[0])
    const majorVersion = Math.floor(facts.version / 10_000)
    if (majorVersion < minMajor) {
      throw new DatabaseStartError(
        `DATABASE_URL leads to PostgreSQL ${majorVersion}, Faultline needs ${minMajor} or newer.`,
      )
    }
    if (facts.encoding !== 'UTF8') {
      throw new DatabaseStartError(
        `The database of DATABASE_URL stores text as ${facts.encoding}: create it with ENCODING 'UTF8'.`,
      )
    }
    if (facts.is_replica) {
      throw new DatabaseStartError('DATABASE_URL leads to a read-only replica: name the primary.')
    }
    if (!facts.may_create) {
      throw new DatabaseStartError(
        'The user of DATABASE_URL may not create tables: grant it CREATE on the schema, or make it the owner.',
      )
    }
    return { majorVersion }
  } finally {
    await client.end()
  }
}

async function connect(connectionString: string, timeoutMs: number): Promise<pg.Client> {
  let client: pg.Client
  try {
    client = new pg.Client({
      connectionString,
      connectionTimeoutMillis: timeoutMs,
      application_name: 'faultline check',
    })
  } catch {
    throw new DatabaseStartError(
      'DATABASE_URL is not a valid address: it looks like postgresql://user:password@host:5432/database.',
    )
  }
  // The running query reports the error of a broken connection.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    // Not awaited: after a timeout it never settles.
    void client.end().catch(() => {})
    throw new DatabaseStartError(explain(error, client), { cause: error })
  }
}

/** The error message for a failed connection. */
function explain(error: unknown, { host, port, user, database }: pg.Client): string {
  const failure = firstOf(error)
  const place = host.startsWith('/') ? `the socket in ${host}` : `${host}:${port}`
  switch (failure.code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return `No PostgreSQL answers at ${place} (DATABASE_URL): is it running, and are host and port right?`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host ${host} of DATABASE_URL has no address: is the name right?`
    case '28P01':
    case '28000':
      return `PostgreSQL at ${place} refuses the user ${user} of DATABASE_URL: ${failure.message}.`
    case '3D000':
      return `PostgreSQL at ${place} has no database ${database} (DATABASE_URL): create it first.`
    case '53300':
      return `PostgreSQL at ${place} has no connection left: ${failure.message}.`
    default:
      return `PostgreSQL at ${place} cannot be reached (DATABASE_URL): ${failure.message}.`
  }
}

/** Node tries all addresses of a name and reports the failures together. */
function firstOf(error: unknown): { code: string | undefined; message: string } {
  const one: unknown = error instanceof AggregateError ? error.errors[0] : error
  if (!(one instanceof Error)) return { code: undefined, message: String(one) }
  const code = 'code' in one && typeof one.code === 'string' ? one.code : undefined
  return { code, message: one.message }
}
