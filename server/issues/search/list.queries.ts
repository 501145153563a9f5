import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import type { OrgActor } from '../../platform/context/actor.ts'
import { TOTAL_CAP } from '../../platform/kernel/page.api.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import { severityName, severityRank, ISSUE_STATUSES } from '#shared/issue-values.ts'
import type { IssueSort, IssueStatus, Severity } from '../rules/issue.api.ts'
import {
  issueRows,
  ownColumns,
  lastSeenSince,
  toCountKey,
  toTimeKey,
  isAssignedTo,
  isUnassigned,
} from '../rows/issues.queries.ts'
import { decodeCursor, type Cursor, type StoredSortKey } from './list-cursor.ts'
import type { Condition } from './compile-query.queries.ts'
import type { Correction } from './query-error.ts'

/** Lists of issues. Indexes hold coarse sort keys (migrations/0005_issues.sql); the exact order comes from the rows. */

export type IssueFilter = {
  readonly projectIds?: readonly string[] | undefined
  /** Deleted projects whose issues are left: not in the list. */
  readonly hiddenProjectIds?: readonly string[] | undefined
  readonly statuses?: readonly IssueStatus[] | undefined
  readonly severities?: readonly Severity[] | undefined
  readonly platforms?: readonly string[] | undefined
  /** User ids; null stands for unassigned. */
  readonly assignees?: readonly (string | null)[] | undefined
  readonly seenSince?: Date | undefined
  /** Conditions of a query. */
  readonly conditions?: readonly Condition[] | undefined
  /** Words of the query that no issue has, and what was searched instead. */
  readonly corrections?: readonly Correction[] | undefined
}

type Issues = SelectQueryBuilder<Tables & { i: Tables['issues'] }, 'i', object>

/** Returns a query, without columns, for the organisation's issues that match a filter, without merged issues. */
export function filtered(db: Connection, actor: OrgActor, filter: IssueFilter): Issues {
  let query = scoped(db, actor, filter)
  // `any` instead of `in`: contradicting filters make an empty list, which must match nothing.
  if (filter.statuses !== undefined) query = query.where('i.status', '=', anyOf(filter.statuses, 'text'))
  if (filter.severities !== undefined)
    query = query.where('i.severity', '=', anyOf(filter.severities.map(severityRank), 'smallint'))
  if (filter.platforms !== undefined) query = query.where('i.platform', '=', anyOf(filter.platforms, 'text'))
  if (filter.seenSince !== undefined) query = query.where(lastSeenSince(filter.seenSince))
  if (filter.assignees !== undefined) {
    const userIds = filter.assignees.filter((id) => id !== null)
    query = query.where((eb) =>
      eb.or([
        ...(userIds.length > 0 ? [isAssignedTo(actor.orgId, userIds)] : []),
        ...(filter.assignees?.includes(null) === true ? [isUnassigned(actor.orgId)] : []),
      ]),
    )
  }
  for (const condition of filter.conditions ?? []) query = query.where(condition)
  return query
}

function scoped(
  db: Connection,
  actor: OrgActor,
  { projectIds, hiddenProjectIds = [], conditions = [] }: IssueFilter,
): Issues {
  let query = db.selectFrom('issues as i').where('i.merged_into', 'is', null)
  // For queries, the index of the organisation is best: it holds most of the columns they need.
  if (projectIds === undefined || conditions.length > 0) query = query.where('i.org_id', '=', actor.orgId)
  if (hiddenProjectIds.length > 0) query = query.where('i.project_id', 'not in', [...hiddenProjectIds])
  if (projectIds === undefined) return query
  const [only] = projectIds
  // A subquery selects the organisation's projects, because checking `org_id` would read each row.
  return projectIds.length === 1 && only !== undefined
    ? query.where(
        'i.project_id',
        '=',
        sql<string>`(select id from projects where id = ${only} and org_id = ${actor.orgId})`,
      )
    : query.where(
        'i.project_id',
        '=',
        sql<string>`any(array(select id from projects where org_id = ${actor.orgId} and id = ${anyOf(projectIds, 'uuid')}))`,
      )
}

const anyOf = <T extends string | number>(values: readonly T[], type: 'uuid' | 'text' | 'smallint') =>
  sql<T>`any(${sql.val([...values])}::${sql.raw(type)}[])`

export type IssuePage = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly sort: IssueSort
}

type Sorting = {
  /** The column of the index, if it is not the sort column itself. */
  readonly coarse: 'i.seen_slot' | 'i.events_rank' | 'i.users_rank' | null
  readonly type: 'timestamptz' | 'bigint'
  /** The coarse key of a value, as the migration computes it. */
  readonly coarseOf: (value: RawBuilder<unknown>) => RawBuilder<unknown>
}

const SORTINGS: Readonly<Record<StoredSortKey, Sorting>> = {
  last_seen: { coarse: 'i.seen_slot', type: 'timestamptz', coarseOf: toTimeKey },
  first_seen: { coarse: null, type: 'timestamptz', coarseOf: (value) => value },
  event_count: { coarse: 'i.events_rank', type: 'bigint', coarseOf: toCountKey },
  user_count: { coarse: 'i.users_rank', type: 'bigint', coarseOf: toCountKey },
  severity: { coarse: null, type: 'bigint', coarseOf: (value) => value },
}

/**
 * Returns one page of issues and one more row if there is a next page.
 * @param key of the sort
 */
export async function selectIssues(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  page: IssuePage,
  key: StoredSortKey,
) {
  const column = `i.${key}` as const
  const { coarse, type, coarseOf } = SORTINGS[key]
  const direction = page.sort.startsWith('-') ? 'desc' : 'asc'
  const cursor = page.cursor === undefined ? null : decodeCursor(page.cursor, page.sort)
  let query =
    page.sort === '-last_seen' && (filter.conditions ?? []).length > 0
      ? newestAmong(db, actor, filter, page, cursor)
      : rowsOf(db, actor, filter)
  if (cursor !== null) {
    const beyond = sql.raw(direction === 'desc' ? '<' : '>')
    const value = sql`${cursor.value}::${sql.raw(type)}`
    query = query.where(sql<boolean>`(${sql.ref(column)}, i.id) ${beyond} (${value}, ${cursor.id}::uuid)`)
    if (coarse !== null) query = query.where(sql<boolean>`${sql.ref(coarse)} ${beyond}= ${coarseOf(value)}`)
  }
  if (coarse !== null) query = query.orderBy(coarse, direction)
  // The page is selected before the joins, so that they cannot change its plan.
  const rows = query
    .orderBy(column, direction)
    .orderBy('i.id', direction)
    .limit(page.limit + 1)
    .offset(page.cursor === undefined ? page.offset : 0)
  return issueRows(db, actor, rows).orderBy(column, direction).orderBy('i.id', direction).execute()
}

const rowsOf = (db: Connection, actor: OrgActor, filter: IssueFilter) => filtered(db, actor, filter).select(ownColumns)

/** Returns issues of the list by id. */
export async function selectListed(db: Connection, actor: OrgActor, issueIds: readonly string[]) {
  const rows = await issueRows(db, actor, rowsOf(db, actor, {}).where('i.id', '=', anyOf(issueIds, 'uuid'))).execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Returns a query for a superset of a page: whole slots of issues, found by an index-only scan where the filter allows it,
 * so that few rows are read.
 */
function newestAmong(db: Connection, actor: OrgActor, filter: IssueFilter, page: IssuePage, cursor: Cursor | null) {
  const { seenSince, ...rest } = filter
  const issues = filtered(db, actor, rest).select('i.id')
  const slot = cursor === null ? null : toTimeKey(sql`${cursor.value}::timestamptz`)
  let newest = issues
    .orderBy('i.seen_slot', 'desc')
    .fetch(page.limit + 1 + (slot === null ? page.offset : 0), 'with ties')
  // The slot of `seenSince` may contain older issues. They come last in this order and are filtered below.
  if (seenSince !== undefined)
    newest = newest.where(sql<boolean>`i.seen_slot >= ${toTimeKey(sql`${seenSince}::timestamptz`)}`)
  if (slot !== null) newest = newest.where(sql<boolean>`i.seen_slot < ${slot}`)
  const found = db.selectFrom(newest.as('n')).select('n.id')
  const query = db
    .selectFrom('issues as i')
    .select(ownColumns)
    .where('i.id', 'in', slot === null ? found : found.unionAll(issues.where(sql<boolean>`i.seen_slot = ${slot}`)))
  return seenSince === undefined ? query : query.where(lastSeenSince(seenSince))
}

/** Returns a subquery for all ids, unordered. */
export const issueIdsQuery = (db: Connection, actor: OrgActor, filter: IssueFilter): RawBuilder<unknown> =>
  sql`${filtered(db, actor, filter).select('i.id')}`

/** Returns ids, newest first. */
export async function selectIssueIds(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  max: number,
): Promise<string[]> {
  const rows = await filtered(db, actor, filter)
    .select('i.id')
    .orderBy('i.seen_slot', 'desc')
    .orderBy('i.last_seen', 'desc')
    .orderBy('i.id', 'desc')
    .limit(max)
    .execute()
  return rows.map((row) => row.id)
}

type StatusCounts = Readonly<Record<IssueStatus, number>>

/**
 * Counts issues per status, ignoring the statuses of the filter, each up to {@link TOTAL_CAP} + 1. If the filter has
 * more than status, project and time, it counts only the first {@link TOTAL_CAP} issues. The total respects the statuses.
 */
export async function countByStatus(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  statuses: readonly IssueStatus[] = ISSUE_STATUSES,
): Promise<{ readonly statuses: StatusCounts; readonly total: number }> {
  const wanted = filter.statuses ?? ISSUE_STATUSES
  const { counts, isWhole } = await countStatuses(db, actor, filter, statuses)
  const counted = [...new Set(wanted)].reduce((sum, status) => sum + (counts.get(status) ?? 0), 0)
  const total = isWhole || counted > TOTAL_CAP ? counted : await countAll(db, actor, filter)
  return {
    statuses: {
      unresolved: counts.get('unresolved') ?? 0,
      resolved: counts.get('resolved') ?? 0,
      ignored: counts.get('ignored') ?? 0,
      regressed: counts.get('regressed') ?? 0,
      escalated: counts.get('escalated') ?? 0,
    },
    total,
  }
}

type Counted = { readonly counts: ReadonlyMap<string, number>; readonly isWhole: boolean }

async function countStatuses(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  statuses: readonly IssueStatus[],
): Promise<Counted> {
  const { severities, platforms, assignees, conditions } = filter
  const isPlain =
    severities === undefined && platforms === undefined && assignees === undefined && (conditions ?? []).length === 0
  return isPlain
    ? { counts: await countPlain(db, actor, filter, statuses), isWhole: true }
    : countGrouped(db, actor, { ...filter, statuses })
}

async function countPlain(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  statuses: readonly IssueStatus[],
): Promise<Map<string, number>> {
  const rows = await Promise.all(
    statuses.map(async (status) => [status, await countAll(db, actor, { ...filter, statuses: [status] })] as const),
  )
  return new Map(rows)
}

async function countGrouped(db: Connection, actor: OrgActor, filter: IssueFilter): Promise<Counted> {
  const rows = await db
    .selectFrom(upToCap(db, actor, filter).as('read'))
    .select(['status', (eb) => eb.fn.countAll<number>().as('n')])
    .groupBy('status')
    .execute()
  const counts = new Map<string, number>(rows.map((row) => [row.status, row.n]))
  return { counts, isWhole: rows.reduce((sum, { n }) => sum + n, 0) <= TOTAL_CAP }
}

/** Counts issues that match a filter, up to {@link TOTAL_CAP} + 1. */
async function countAll(db: Connection, actor: OrgActor, filter: IssueFilter): Promise<number> {
  const { n } = await db
    .selectFrom(upToCap(db, actor, filter).as('read'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

/** Whether more than `max` issues match a filter. */
export async function matchesMoreThan(db: Connection, actor: OrgActor, filter: IssueFilter, max: number) {
  const beyond = filtered(db, actor, filter).select('i.id').offset(max).limit(1)
  return (await beyond.executeTakeFirst()) !== undefined
}

/** Selects the issues to count. Where an index-only scan is possible, only the slot of `seenSince` reads rows. */
function upToCap(db: Connection, actor: OrgActor, { seenSince, ...rest }: IssueFilter) {
  const issues = filtered(db, actor, rest).select('i.status')
  const slot = toTimeKey(sql`${seenSince}::timestamptz`)
  const seen =
    seenSince === undefined
      ? issues
      : issues
          .where(sql<boolean>`i.seen_slot > ${slot}`)
          .unionAll(issues.where(sql<boolean>`i.seen_slot = ${slot}`).where('i.last_seen', '>=', seenSince))
  return db
    .selectFrom(seen.as('seen'))
    .select('status')
    .limit(TOTAL_CAP + 1)
}

export type CountedColumn = 'status' | 'level' | 'severity' | 'platform' | 'assignee_team'

/** Returns how many of the newest `max` issues have each value of a column, most first. */
export async function countColumn(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  column: CountedColumn,
  max: number,
): Promise<Map<string, number>> {
  const newest = filtered(db, actor, filter).select(`i.${column} as value`).orderBy('i.seen_slot', 'desc').limit(max)
  const rows = await db
    .selectFrom(newest.as('newest'))
    .select(['value', (eb) => eb.fn.countAll<number>().as('n')])
    .where('value', 'is not', null)
    .groupBy('value')
    .orderBy('n', 'desc')
    .orderBy('value')
    .execute()
  return new Map(
    rows.map(({ value, n }) => [typeof value === 'number' ? severityName(value) : (value ?? ''), n] as const),
  )
}
