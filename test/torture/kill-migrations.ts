import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { migrate, readMigrations, splitStatements, type StatementRunner } from '#server/platform/storage/migrate.ts'
import { atLeast, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

/**
 * T-40. Claim: a migration that is cut off at any statement, during it or after it, is finished by the next start, and the
 * schema is the one of a database that was never cut off.
 */
export async function killMigrations({ full, seed }: TortureArgs): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} })
  const admin = await connect(postgres.connectionString)
  try {
    const whole = await newDatabase(admin, postgres.connectionString, 'whole')
    const client = await connect(whole)
    await migrate(client)
    const expected = await schemaOf(client)
    await client.end()

    const cut = await newDatabase(admin, postgres.connectionString, 'cut')
    const [kills, unclear] = await migrateWithKills(cut, admin, full ? 1 : STEP, seed)
    const after = await connect(cut)
    const schema = await schemaOf(after)
    const { rows } = await after.query<{ name: string }>('select name from schema_migrations')
    await after.end()
    const differing = [...expected]
      .filter((line) => !schema.has(line))
      .concat([...schema].filter((line) => !expected.has(line)))
    for (const line of differing.slice(0, 10)) print(`  differs: ${line}`)
    return {
      claims: [
        atLeast('connections ended while they migrated', full ? 300 : 50, kills),
        none('errors of another kind', unclear),
        claim(
          'every file is applied',
          `${rows.length} of ${readMigrations().length}`,
          rows.length === readMigrations().length,
        ),
        none('differences of the schema', differing.length),
      ],
    }
  } finally {
    await admin.end()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** By default every seventh statement of a file is cut off. */
const STEP = 7

/**
 * Migrates a database whose connection ends at a statement of a file, each time at a later one, until the file passes.
 * @returns how often it ended, and how many errors were of another kind
 */
async function migrateWithKills(url: string, admin: pg.Client, step: number, seed: number): Promise<[number, number]> {
  let [kills, unclear] = [0, 0]
  /** The statement of a file, from 1, at which the connection ends next. */
  const next = new Map<string, number>()
  for (;;) {
    const client = await connect(url)
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const end = () => admin.query('select pg_terminate_backend($1)', [rows[0]?.pid])
    let [file, count] = ['', 0]
    const run = async (text: string, values?: unknown[]) => {
      const at = next.get(file) ?? 1 + (seed % step)
      if (file === '' || ++count !== at) return client.query(text, values)
      next.set(file, at + step)
      kills++
      const answer = client.query(text, values)
      // Half of them during the statement, which may be finished by then.
      if (kills % 2 === 0) answer.catch(() => {})
      else await answer
      await end()
      return answer
    }
    const runner: StatementRunner = {
      async query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]) {
        const [last = text, ...before] = values === undefined ? statementsOf(text).toReversed() : [text]
        for (const statement of before.toReversed()) await run(statement)
        return (await run(last, values)) as pg.QueryResult<Row>
      },
    }
    try {
      await migrate(runner, (line) => ([file, count] = [line, 0]))
      return [kills, unclear]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (!/terminat|closed|not queryable|EPIPE|ECONNRESET/i.test(reason)) {
        print(`  ${reason}`)
        if (++unclear > 5) return [kills, unclear]
      }
    } finally {
      await client.end().catch(() => {})
    }
    if (kills % 100 === 0) print(`  the connection ended ${kills} times`)
  }
}

/** A file is sent as a whole; functions hold semicolons. */
const statementsOf = (text: string): string[] => (text.includes('$') ? [text] : splitStatements(text))

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function newDatabase(admin: pg.Client, url: string, name: string): Promise<string> {
  await admin.query(`create database ${name}`)
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

/** A line for each column, constraint, index, function, trigger, view and sequence. */
async function schemaOf(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ line: string }>(`
    with own as (select c.* from pg_class c where c.relnamespace = 'public'::regnamespace)
    select 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull
           || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') as line
    from own c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    union all select 'constraint ' || c.relname || ' ' || pg_get_constraintdef(o.oid) from own c join pg_constraint o on o.conrelid = c.oid
    union all select 'index ' || pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid from own c join pg_index i on i.indrelid = c.oid
    union all select 'trigger ' || pg_get_triggerdef(t.oid) from own c join pg_trigger t on t.tgrelid = c.oid where not t.tgisinternal
    union all select 'view ' || c.relname || ' ' || pg_get_viewdef(c.oid) from own c where c.relkind in ('v', 'm')
    union all select 'kind ' || c.relname || ' ' || c.relkind::text from own c
    union all select 'function ' || pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'`)
  return new Set(rows.map(({ line }) => line))
}
