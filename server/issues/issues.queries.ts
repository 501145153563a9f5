import { sql, type SelectQueryBuilder, type SqlBool } from 'kysely'
import { z } from 'zod'
import type { Actor } from '../context/actor.ts'
import { invalid } from '../kernel/errors.ts'
import { TOTAL_CAP } from '../kernel/page.api.ts'
import type { Database, Tx } from '../storage/pool.ts'
import type { Tables } from '../storage/tables.ts'
import { severityRank } from './issue.ts'
import { LIFE_COLUMNS } from './life-columns.ts'
import { STATUSES, type IssueSort, type IssueStatus, type Severity } from './issues.api.ts'

/** Reads of issues for lists and pages; joins projects and users, which stand above. */

export type IssueFilter = {
  readonly projectIds?: readonly string[] | undefined
  readonly statuses?: readonly IssueStatus[] | undefined
  readonly severities?: readonly Severity[] | undefined
  readonly levels?: readonly string[] | undefined
  readonly platforms?: readonly string[] | undefined
  /** User ids; null stands for nobody. */
  readonly assignees?: readonly (string | null)[] | undefined
  readonly seenSince?: Date | undefined
  /** Every word must occur, as a prefix. */
  readonly words?: readonly string[] | undefined
  readonly withoutWords?: readonly string[] | undefined
}

const issueColumns = [
  'i.id',
  'i.number',
  'i.project_id',
  'i.title',
  'i.culprit',
  'i.error_type',
  'i.error_value',
  'i.level',
  'i.platform',
  'i.status',
  'i.status_reason',
  'i.severity',
  'i.severity_pinned',
  'i.assignee_id',
  'i.first_seen',
  'i.last_seen',
  'i.event_count',
  'i.user_count',
  'i.first_release',
  'i.last_release',
  'i.resolved_in_release',
  'i.ignore_until',
  'i.resolution',
  'i.is_unhandled',
  'p.slug as project_slug',
  'u.name as assignee_name',
  'u.email as assignee_email',
] as const

export type IssueRow = Awaited<ReturnType<typeof selectIssue>> & object

type Joined = SelectQueryBuilder<Tables & { i: Tables['issues']; p: Tables['projects'] }, 'i' | 'p', object>

/** Issues of the actor's organisation under a filter, nothing selected yet. */
function filtered(db: Database | Tx, actor: Actor, filter: IssueFilter): Joined {
  let query: Joined = db
    .selectFrom('issues as i')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .where('i.org_id', '=', actor.orgId)
  if (filter.projectIds !== undefined) query = query.where('i.project_id', '=', anyOf(filter.projectIds, 'uuid'))
  // `any` of an array rather than `in`: filters that exclude each other leave an empty list, which matches nothing.
  if (filter.statuses !== undefined) query = query.where('i.status', '=', anyOf(filter.statuses, 'text'))
  if (filter.severities !== undefined)
    query = query.where('i.severity', '=', anyOf(filter.severities.map(severityRank), 'smallint'))
  if (filter.levels !== undefined) query = query.where('i.level', '=', anyOf(filter.levels, 'text'))
  if (filter.platforms !== undefined) query = query.where('i.platform', '=', anyOf(filter.platforms, 'text'))
  if (filter.seenSince !== undefined) query = query.where('i.last_seen', '>=', filter.seenSince)
  if (filter.assignees !== undefined) {
    const people = filter.assignees.filter((id) => id !== null)
    const nobody = filter.assignees.includes(null)
    query = query.where((eb) =>
      eb.or([
        ...(people.length > 0 ? [eb('i.assignee_id', 'in', people)] : []),
        ...(nobody ? [eb('i.assignee_id', 'is', null)] : []),
      ]),
    )
  }
  for (const word of filter.words ?? []) query = query.where(matches(word))
  for (const word of filter.withoutWords ?? []) query = query.where(sql<SqlBool>`not ${matches(word)}`)
  return query
}

/** Words hold letters and digits only (search-text.ts), so they cannot break out of the query's syntax. */
const matches = (word: string) => sql<SqlBool>`i.search_vector @@ to_tsquery('simple', ${`${word}:*`})`

const anyOf = <T extends string | number>(values: readonly T[], type: 'uuid' | 'text' | 'smallint') =>
  sql<T>`any(${sql.val([...values])}::${sql.raw(type)}[])`

type SortKey = 'last_seen' | 'first_seen' | 'event_count' | 'user_count' | 'severity'

/** What a cursor remembers: the sort it belongs to, and the value and id of the last row. */
type Cursor = { readonly sort: IssueSort; readonly value: string; readonly id: string }

const CursorParts = z.tuple([z.string(), z.string(), z.uuid()])
/** As `toISOString` gives it for years PostgreSQL reads the same way. */
const CursorTime = z.iso.datetime()

export function encodeCursor(sort: IssueSort, row: IssueRow): string {
  const value = row[sortKey(sort)]
  const cursor: Cursor = { sort, value: value instanceof Date ? value.toISOString() : String(value), id: row.id }
  return Buffer.from(JSON.stringify(Object.values(cursor))).toString('base64url')
}

/** @throws AppError invalid when the cursor is not one of ours or belongs to another sort */
function decodeCursor(text: string, sort: IssueSort): Cursor {
  let given: unknown
  try {
    given = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    given = null
  }
  const parts = CursorParts.safeParse(given)
  if (!parts.success) throw invalid('cursor is not one this list gave out.')
  const [cursorSort, value, id] = parts.data
  const isValue = sort.endsWith('_seen') ? CursorTime.safeParse(value).success : /^\d{1,15}$/.test(value)
  if (cursorSort === sort && !isValue) throw invalid('cursor is not one this list gave out.')
  if (cursorSort !== sort) throw invalid('cursor belongs to another sort; start again without it.')
  return { sort, value, id }
}

const sortKey = (sort: IssueSort): SortKey => sort.replace(/^-/, '') as SortKey

export type IssuePage = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly sort: IssueSort
}

/** One page of issues; asks for one row more than `limit` to know whether there is a next page. */
export async function selectIssues(db: Database, actor: Actor, filter: IssueFilter, page: IssuePage) {
  const key = sortKey(page.sort)
  const column = `i.${key}` as const
  const direction = page.sort.startsWith('-') ? 'desc' : 'asc'
  let query = filtered(db, actor, filter).leftJoin('users as u', 'u.id', 'i.assignee_id').select(issueColumns)
  if (page.cursor !== undefined) {
    const cursor = decodeCursor(page.cursor, page.sort)
    const type = key.endsWith('_seen') ? 'timestamptz' : 'bigint'
    const beyond = direction === 'desc' ? sql.raw('<') : sql.raw('>')
    query = query.where(
      sql<SqlBool>`(${sql.ref(column)}, i.id) ${beyond} (${cursor.value}::${sql.raw(type)}, ${cursor.id}::uuid)`,
    )
  }
  return query
    .orderBy(column, direction)
    .orderBy('i.id', direction)
    .limit(page.limit + 1)
    .offset(page.cursor === undefined ? page.offset : 0)
    .execute()
}

/** Ids alone, newest first. */
export async function selectIssueIds(db: Database, actor: Actor, filter: IssueFilter, most: number): Promise<string[]> {
  const rows = await filtered(db, actor, filter)
    .select('i.id')
    .orderBy('i.last_seen', 'desc')
    .orderBy('i.id', 'desc')
    .limit(most)
    .execute()
  return rows.map((row) => row.id)
}

/** Issues per status under a filter, each count capped at {@link TOTAL_CAP}. */
export async function countByStatus(
  db: Database,
  actor: Actor,
  filter: IssueFilter,
): Promise<Record<IssueStatus, number>> {
  const counts = await Promise.all(
    STATUSES.map(async (status) => {
      const capped = filtered(db, actor, { ...filter, statuses: [status] })
        .select('i.id')
        .limit(TOTAL_CAP)
      const row = await db
        .selectFrom(capped.as('capped'))
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      return [status, row.n] as const
    }),
  )
  const of = Object.fromEntries(counts)
  return {
    unresolved: of['unresolved'] ?? 0,
    resolved: of['resolved'] ?? 0,
    ignored: of['ignored'] ?? 0,
    regressed: of['regressed'] ?? 0,
    escalated: of['escalated'] ?? 0,
  }
}

/** Rows under a filter, counted up to one beyond {@link TOTAL_CAP}. */
export async function countIssues(db: Database, actor: Actor, filter: IssueFilter): Promise<number> {
  const capped = filtered(db, actor, filter)
    .select('i.id')
    .limit(TOTAL_CAP + 1)
  const row = await db
    .selectFrom(capped.as('capped'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return row.n
}

/** One issue of the actor's organisation. */
export function selectIssue(db: Database | Tx, actor: Actor, issueId: string) {
  return filtered(db, actor, {})
    .leftJoin('users as u', 'u.id', 'i.assignee_id')
    .select(issueColumns)
    .where('i.id', '=', issueId)
    .executeTakeFirst()
}

/** The same, locked until the transaction ends. */
export function lockIssue(tx: Tx, actor: Actor, issueId: string) {
  return filtered(tx, actor, {})
    .select([
      'i.id',
      'i.project_id',
      'i.assignee_id',
      'i.severity',
      'i.severity_pinned',
      'i.gravity',
      'i.wide_day',
      ...LIFE_COLUMNS.map((column) => `i.${column}` as const),
    ])
    .where('i.id', '=', issueId)
    .forUpdate('i')
    .executeTakeFirst()
}

const HOUR_MS = 3_600_000
export const TREND_HOURS = 24

/** Events per hour over the last {@link TREND_HOURS} hours, oldest first, for each of the issues. */
export async function selectTrends(
  db: Database,
  issueIds: readonly string[],
  now: Date,
): Promise<{ start: Date; of(issueId: string): number[] }> {
  const start = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - (TREND_HOURS - 1) * HOUR_MS)
  const rows =
    issueIds.length === 0
      ? []
      : await db
          .selectFrom('issue_hours')
          .selectAll()
          .where('issue_id', '=', anyOf(issueIds, 'uuid'))
          .where('hour', '>=', start)
          .execute()
  const counts = new Map<string, number[]>()
  for (const row of rows) {
    const bucket = (row.hour.getTime() - start.getTime()) / HOUR_MS
    const trend = counts.get(row.issue_id) ?? Array.from({ length: TREND_HOURS }, () => 0)
    if (bucket < TREND_HOURS) trend[bucket] = row.events
    counts.set(row.issue_id, trend)
  }
  return { start, of: (issueId) => counts.get(issueId) ?? Array.from({ length: TREND_HOURS }, () => 0) }
}

/** Newest activity first. */
export function selectActivity(db: Database, issueId: string, limit: number) {
  return db
    .selectFrom('issue_activity as a')
    .leftJoin('users as u', 'u.id', 'a.actor_id')
    .select([
      'a.id',
      'a.kind',
      'a.sentence',
      'a.data',
      'a.created_at',
      'a.actor_id',
      'u.name as actor_name',
      'u.email as actor_email',
    ])
    .where('a.issue_id', '=', issueId)
    .orderBy('a.created_at', 'desc')
    .orderBy('a.id', 'desc')
    .limit(limit)
    .execute()
}

/** The oldest fingerprint of an issue: why its first events met. */
export function selectGrouping(db: Database, issueId: string) {
  return db
    .selectFrom('issue_fingerprints')
    .select(['grouping_version', 'parts'])
    .where('issue_id', '=', issueId)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
}
