import type { App } from '../../platform/context/app.ts'
import { rateLimited } from '../../platform/kernel/errors.ts'
import { databaseAway, isDatabaseAway } from '../../platform/storage/pool.ts'
import type { ReadRows } from '../../platform/storage/read-only.ts'
import { ROLE, SCHEMA, type ViewName, VIEWS } from './catalogue.ts'
import { forgetReadiness, readReadiness } from './query-state.ts'
import { readTableSizes } from './query-state.queries.ts'
import type { GuardedStatement } from './guard/read-statement.ts'
import { RefusedStatement } from './guard/refused-statement.ts'
import { z } from 'zod'

/** Runs a statement that the guard has checked, under a role that only reads the views. */

const MAX_ROWS = 1_000
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

type Scope = {
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

/** A node of a plan, as far as it says how many rows are read. */
type PlanNode = {
  readonly 'Node Type': string
  readonly 'Plan Rows': number
  readonly 'Startup Cost': number
  readonly 'Total Cost': number
  readonly 'Relation Name'?: string | undefined
  readonly Filter?: string | undefined
  readonly 'Parent Relationship'?: string | undefined
  readonly 'Subplan Name'?: string | undefined
  readonly Plans?: readonly PlanNode[] | undefined
}

const Node: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    'Node Type': z.string(),
    'Plan Rows': z.number(),
    'Startup Cost': z.number(),
    'Total Cost': z.number(),
    'Relation Name': z.string().optional(),
    Filter: z.string().optional(),
    'Parent Relationship': z.string().optional(),
    'Subplan Name': z.string().optional(),
    Plans: z.array(Node).optional(),
  }),
)
const Explained = z.tuple([z.object({ Plan: Node })])

/** Parses the answer of `explain (format json)`. */
const parsePlan = (answer: unknown): PlanNode => Explained.parse(answer)[0].Plan

/** Tables that are read from begin to end with a condition: the plan has the rows that meet it, not those that are read. */
function filteredTables(node: PlanNode): string[] {
  const own = node['Node Type'] === 'Seq Scan' && node.Filter !== undefined ? node['Relation Name'] : undefined
  return [...(own === undefined ? [] : [own]), ...(node.Plans ?? []).flatMap(filteredTables)]
}

/** Cost of a row that an index finds and a condition drops: a page at random, in the least units of servers. */
const LOOK_UP_COST = 4

/**
 * Estimates how many rows of tables a plan reads, repetitions included.
 * @param sizes rows of {@link filteredTables}
 */
function estimateRows(node: PlanNode, sizes: ReadonlyMap<string, number>, times = 1): number {
  const type = node['Node Type']
  const rows = Math.max(1, node['Plan Rows'])
  const plans = node.Plans ?? []
  if (type === 'Seq Scan') return Math.max(rows, sizes.get(node['Relation Name'] ?? '') ?? 0) * times
  if (type === 'Index Scan' || type === 'Index Only Scan') {
    const found = node.Filter === undefined ? rows : Math.max(rows, node['Total Cost'] / LOOK_UP_COST)
    return found * times
  }
  if (type === 'Bitmap Index Scan') return rows * times
  // These rows are made once and read every time.
  if (type === 'Materialize' || type === 'CTE Scan')
    return rows * times + plans.reduce((sum, plan) => sum + estimateRows(plan, sizes), 0)
  if (type === 'Limit' && plans[0] !== undefined) return estimateRows(plans[0], sizes, times) * share(node, plans[0])
  return plans.reduce((sum, plan, i) => sum + estimateRows(plan, sizes, times * repetitions(node, plan, i)), 0)
}

/** How often a part of a plan runs for one run of the whole. */
function repetitions(node: PlanNode, plan: PlanNode, index: number): number {
  const name = plan['Subplan Name'] ?? ''
  if (plan['Parent Relationship'] === 'SubPlan')
    return name !== '' && (node.Filter ?? '').includes(`hashed ${name}`) ? 1 : Math.max(1, node['Plan Rows'])
  const isInner = node['Node Type'] === 'Nested Loop' && plan['Parent Relationship'] === 'Inner' && index > 0
  return isInner ? Math.max(1, node.Plans?.[0]?.['Plan Rows'] ?? 1) : 1
}

/** The part of its input that LIMIT reads; all of it, where that is sorted or counted first. */
function share(limit: PlanNode, input: PlanNode): number {
  const whole = input['Total Cost']
  return whole > 0 ? Math.min(1, limit['Total Cost'] / whole) : 1
}
