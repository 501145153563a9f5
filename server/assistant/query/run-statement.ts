import type { App } from '../../platform/context/app.ts'
import { rateLimited } from '../../platform/kernel/errors.ts'
import { databaseAway, isDatabaseAway } from '../../platform/storage/pool.ts'
import type { ReadRows } from '../../platform/storage/read-only.ts'
import { ROLE, SCHEMA, type ViewName, VIEWS } from './catalogue.ts'
import { forgetReadiness, readReadiness } from './query-state.ts'
import { readTableSizes } from './query-state.queries.ts'
import { estimateRows, filteredTables, parsePlan } from './read-plan.ts'
import type { GuardedStatement } from './guard/read-statement.ts'
import { RefusedStatement } from './guard/refused-statement.ts'

/** Runs a statement that the guard has checked, under a role that only reads the views. */

export const MAX_ROWS = 1_000
const MAX_ANSWER_BYTES = 5 * 1024 * 1024
const MAX_READ_ROWS = 2_000_000
const MAX_SECONDS = 3

const SETTINGS = {
  search_path: `pg_catalog, ${SCHEMA}`,
  statement_timeout: `${MAX_SECONDS}s`,
  lock_timeout: '100ms',
  work_mem: '16MB',
  hash_mem_multiplier: '1',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  // Rows that the views have made so far.
  'nlq.rows': '',
}

export type Scope = {
  readonly projectId: string
  /** The first day of the retention. */
  readonly oldestDay: string
}

/**
 * Runs a statement in a read-only transaction of its own.
 * @throws RefusedStatement too broad, or the database does not accept it; AppError rate_limited, unavailable
 */
export async function runStatement(
  app: App,
  { sql, views }: Pick<GuardedStatement, 'sql' | 'views'>,
  { projectId, oldestDay }: Scope,
): Promise<ReadRows> {
  const { may_limit_files: mayLimitFiles } = await readReadiness(app)
  const settings = {
    ...SETTINGS,
    ...(mayLimitFiles ? { temp_file_limit: '64MB' } : {}),
    'nlq.project': projectId,
    'nlq.oldest_day': oldestDay,
  }
  try {
    return await app.readOnly.run({ role: ROLE, settings }, async (tx) => {
      const plan = parsePlan(await tx.explain(sql))
      // No figure: estimates come from the data of all organisations.
      if (estimateRows(plan, await readTableSizes(app.db, filteredTables(plan))) > MAX_READ_ROWS)
        throw tooBroad('It would read more than 2 million rows.', views)
      return tx.read(sql, { rows: MAX_ROWS, bytes: MAX_ANSWER_BYTES })
    })
  } catch (error) {
    throw explained(app, error, views)
  }
}

function tooBroad(what: string, views: readonly ViewName[]): RefusedStatement {
  const [view] = views
  const how =
    view === undefined
      ? 'Ask for less.'
      : `Narrow it, for example with ${VIEWS[view].time} >= now() - interval '7 days', or with a condition on a release.`
  return new RefusedStatement('too_broad', `${what} ${how}`)
}

/** Sentences for errors of statements, by SQLSTATE. The text of the database could hold data. */
const SENTENCES: Readonly<Record<string, string>> = {
  '42883': 'An operator or a function in it does not take values of these types.',
  '42725': 'An operator or a function in it takes several types of values: write the type, as in value::text.',
  '42803': 'A column must be in GROUP BY or inside an aggregate such as count().',
  '42703': 'It names a column that is not there.',
  '42702': 'It names a column that several views have: write view.column.',
  '42712': 'Two parts of FROM have the same name.',
  '42P01': 'It names a part of FROM that is not there at this place.',
  '42P10': 'GROUP BY or ORDER BY names a column that is not there.',
  '42P20': 'A window function stands where it is not permitted.',
  '42804': 'Values that must have the same type have different ones.',
  '42846': 'A value cannot be changed to that type.',
  '42601': 'Its parts do not fit together.',
  '42701': 'Two columns have the same name.',
  '42P18': 'The type of a value is not clear: write it, as in value::text.',
  '22P02': 'A text in it is not a value of its type.',
  '22007': 'A text in it is no date or time.',
  '22008': 'A date or time in it is out of range.',
  '22003': 'A number in it is out of range.',
  '22012': 'It divides by zero: use nullif(…, 0).',
  '22023': 'A value in it is not permitted at its place, such as the unit of date_trunc.',
  '2201B': 'A regular expression in it is not valid.',
  '21000': 'A SELECT that must have one row has several.',
  '54001': 'It is too complicated.',
}

function explained(app: App, error: unknown, views: readonly ViewName[]): unknown {
  if (!(error instanceof Error) || error instanceof RefusedStatement) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === '57014') return tooBroad(`It takes longer than ${MAX_SECONDS} seconds.`, views)
  if (code === '54000') return tooBroad('It would read more than 2 million rows.', views)
  if (code === '53400' || code === '53200') return tooBroad('It needs more memory than is permitted.', views)
  if (code === '55P03') return databaseAway(error)
  if (/timeout exceeded when trying to connect/.test(error.message))
    return rateLimited('Other queries are running. Try again in a few seconds.', 3)
  const sentence = SENTENCES[code]
  if (sentence !== undefined) return new RefusedStatement('database', sentence)
  if (code === '42501') {
    // The guard and the privileges of the role differ, or the role has lost some.
    app.log.warn({ err: error.message }, 'nlq: the role of statements lacks a privilege')
    forgetReadiness(app)
  }
  if (/^(0A|2[012]|42|54)/.test(code)) return new RefusedStatement('database', 'The database does not accept it.')
  return isDatabaseAway(error) ? databaseAway(error) : error
}
