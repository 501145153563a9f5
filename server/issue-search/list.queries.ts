import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import type { OrgActor } from '../context/actor.ts'
import { TOTAL_CAP } from '../kernel/page.api.ts'
import type { Connection } from '../storage/database.ts'
import type { Tables } from '../storage/tables.gen.ts'
import { severityRank } from '../issue-rules/issue.ts'
import { ISSUE_STATUSES } from '#shared/issue-values.ts'
import type { IssueSort, IssueStatus, Severity } from '../issue-rules/issue.api.ts'
import { issueColumns, ownColumns } from '../issue-rows/issues.queries.ts'
import { decodeCursor, sortKey, type Cursor } from './list-cursor.ts'
import { isAssignedTo, isUnassigned } from '../issue-rows/owned.queries.ts'
import type { Condition } from './compile-query.queries.ts'
import { lastSeenSince, rankOf, slotOf } from '../issue-rows/sort-keys.queries.ts'

/** Reads of many issues. Indexes hold coarse sort keys (migrations/0005_issues.sql); the row says the rest. */

export type IssueFilter = {
  readonly projectIds?: readonly string[] | undefined
  readonly statuses?: readonly IssueStatus[] | undefined
  readonly severities?: readonly Severity[] | undefined
  readonly platforms?: readonly string[] | undefined
  /** User ids; null stands for nobody. */
  readonly assignees?: readonly (string | null)[] | undefined
  readonly seenSince?: Date | undefined
  /** What a query asks for beside. */
  readonly conditions?: readonly Condition[] | undefined
}

type Issues = SelectQueryBuilder<Tables & { i: Tables['issues'] }, 'i', object>

/** Issues of the actor's organisation under a filter, nothing selected yet; those merged into others are hidden. */
function filtered(db: Connection, actor: OrgActor, filter: IssueFilter): Issues {
  let query = scoped(db, actor, filter)
  // `any` of an array rather than `in`: filters that exclude each other leave an empty list, which matches nothing.
  if (filter.statuses !== undefined) query = query.where('i.status', '=', anyOf(filter.statuses, 'text'))
  if (filter.severities !== undefined)
    query = query.where('i.severity', '=', anyOf(filter.severities.map(severityRank), 'smallint'))
  if (filter.platforms !== undefined) query = query.where('i.platform', '=', anyOf(filter.platforms, 'text'))
  if (filter.seenSince !== undefined) query = query.where(lastSeenSince(filter.seenSince))
  if (filter.assignees !== undefined) {
    const people = filter.assignees.filter((id) => id !== null)
    query = query.where((eb) =>
      eb.or([
        ...(people.length > 0 ? [isAssignedTo(actor.orgId, people)] : []),
        ...(filter.assignees?.includes(null) === true ? [isUnassigned(actor.orgId)] : []),
      ]),
    )
  }
  for (const condition of filter.conditions ?? []) query = query.where(condition)
  return query
}

function scoped(db: Connection, actor: OrgActor, { projectIds, conditions = [] }: IssueFilter): Issues {
  let query = db.selectFrom('issues as i').where('i.merged_into', 'is', null)
  // What a query asks is best asked of the organisation's index, which holds most of what it takes to answer.
  if (projectIds === undefined || conditions.length > 0) query = query.where('i.org_id', '=', actor.orgId)
  if (projectIds === undefined) return query
  const [only] = projectIds
  // Indexes begin with the project or with the organisation: to check one in the row would cost more than to find it.
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
  /** What an index holds, if that is not the column itself. */
  readonly coarse: 'i.seen_slot' | 'i.events_rank' | 'i.users_rank' | null
  readonly type: 'timestamptz' | 'bigint'
  /** The coarse key of a value, as the migration has it. */
  readonly coarseOf: (value: RawBuilder<unknown>) => RawBuilder<unknown>
}

const SORTINGS: Readonly<Record<ReturnType<typeof sortKey>, Sorting>> = {
  last_seen: { coarse: 'i.seen_slot', type: 'timestamptz', coarseOf: slotOf },
  first_seen: { coarse: null, type: 'timestamptz', coarseOf: (value) => value },
  event_count: { coarse: 'i.events_rank', type: 'bigint', coarseOf: rankOf },
  user_count: { coarse: 'i.users_rank', type: 'bigint', coarseOf: rankOf },
  severity: { coarse: null, type: 'bigint', coarseOf: (value) => value },
}

/** One page of issues; asks for one row more than `limit` to know whether there is a next page. */
export async function selectIssues(db: Connection, actor: OrgActor, filter: IssueFilter, page: IssuePage) {
  const key = sortKey(page.sort)
  const column = `i.${key}` as const
  const { coarse, type, coarseOf } = SORTINGS[key]
  const direction = page.sort.startsWith('-') ? 'desc' : 'asc'
  const cursor = page.cursor === undefined ? null : decodeCursor(page.cursor, page.sort)
  let query =
    page.sort === '-last_seen' && (filter.conditions ?? []).length > 0
      ? newestAmong(db, actor, filter, page, cursor)
      : filtered(db, actor, filter).select(ownColumns)
  if (cursor !== null) {
    const beyond = sql.raw(direction === 'desc' ? '<' : '>')
    const value = sql`${cursor.value}::${sql.raw(type)}`
    query = query.where(sql<boolean>`(${sql.ref(column)}, i.id) ${beyond} (${value}, ${cursor.id}::uuid)`)
    if (coarse !== null) query = query.where(sql<boolean>`${sql.ref(coarse)} ${beyond}= ${coarseOf(value)}`)
  }
  if (coarse !== null) query = query.orderBy(coarse, direction)
  // The page first, whoever and whatever it names after: the joins cannot change how it is found.
  const rows = query
    .orderBy(column, direction)
    .orderBy('i.id', direction)
    .limit(page.limit + 1)
    .offset(page.cursor === undefined ? page.offset : 0)
  return db
    .selectFrom(rows.as('i'))
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .leftJoin('memberships as m', (join) =>
      join.onRef('m.user_id', '=', 'i.assignee_id').on('m.org_id', '=', actor.orgId).on('m.disabled_at', 'is', null),
    )
    .leftJoin('users as u', (join) => join.onRef('u.id', '=', 'm.user_id').on('u.disabled_at', 'is', null))
    .select(issueColumns)
    .orderBy(column, direction)
    .orderBy('i.id', direction)
    .execute()
}

/**
 * Issues among which those of a page are, found by what an index alone holds where the filter allows it: rows are read of
 * these few only. All of one slot are among them or none.
 */
function newestAmong(db: Connection, actor: OrgActor, filter: IssueFilter, page: IssuePage, cursor: Cursor | null) {
  const { seenSince, ...rest } = filter
  const issues = filtered(db, actor, rest).select('i.id')
  const slot = cursor === null ? null : slotOf(sql`${cursor.value}::timestamptz`)
  let newest = issues
    .orderBy('i.seen_slot', 'desc')
    .fetch(page.limit + 1 + (slot === null ? page.offset : 0), 'with ties')
  // Those of its slot seen before then are the last ones in this order: they take no one's place.
  if (seenSince !== undefined)
    newest = newest.where(sql<boolean>`i.seen_slot >= ${slotOf(sql`${seenSince}::timestamptz`)}`)
  if (slot !== null) newest = newest.where(sql<boolean>`i.seen_slot < ${slot}`)
  const found = db.selectFrom(newest.as('n')).select('n.id')
  const query = db
    .selectFrom('issues as i')
    .select(ownColumns)
    .where('i.id', 'in', slot === null ? found : found.unionAll(issues.where(sql<boolean>`i.seen_slot = ${slot}`)))
  return seenSince === undefined ? query : query.where(lastSeenSince(seenSince))
}

/** Ids alone, all of them and in no order, to stand in another statement. */
export const issueIdsOf = (db: Connection, actor: OrgActor, filter: IssueFilter): RawBuilder<unknown> =>
  sql`${filtered(db, actor, filter).select('i.id')}`

/** Ids alone, newest first. */
export async function selectIssueIds(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  most: number,
): Promise<string[]> {
  const rows = await filtered(db, actor, filter)
    .select('i.id')
    .orderBy('i.seen_slot', 'desc')
    .orderBy('i.last_seen', 'desc')
    .orderBy('i.id', 'desc')
    .limit(most)
    .execute()
  return rows.map((row) => row.id)
}

export type StatusCounts = Readonly<Record<IssueStatus, number>>

/**
 * Issues per status under a filter whose own statuses do not count, each up to one beyond {@link TOTAL_CAP}; under more
 * than status, project and time, of the first {@link TOTAL_CAP} found. The total is of the filter's own statuses.
 */
export async function countByStatus(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  asked: readonly IssueStatus[] = ISSUE_STATUSES,
): Promise<{ readonly statuses: StatusCounts; readonly total: number }> {
  const wanted = filter.statuses ?? ISSUE_STATUSES
  const { counts, isWhole } = await countStatuses(db, actor, filter, asked)
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

/** Issues under a filter, up to one beyond {@link TOTAL_CAP}. */
async function countAll(db: Connection, actor: OrgActor, filter: IssueFilter): Promise<number> {
  const { n } = await db
    .selectFrom(upToCap(db, actor, filter).as('read'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

/** As many as are counted. By an index alone, where it holds the rest: rows are read of the slot `seenSince` lies in only. */
function upToCap(db: Connection, actor: OrgActor, { seenSince, ...rest }: IssueFilter) {
  const issues = filtered(db, actor, rest).select('i.status')
  const slot = slotOf(sql`${seenSince}::timestamptz`)
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
