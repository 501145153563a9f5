import { sql } from 'kysely'
import type { Fix } from '../rules/resolution.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { BulkResult } from './bulk.api.ts'
import { restoreColumns } from '../rows/issues.queries.ts'

/** SQL of bulk operations. */

export type Operation = NonNullable<Awaited<ReturnType<typeof selectOperation>>>

type NewOperation = {
  readonly id: string
  readonly orgId: string
  readonly actorId: string
  readonly kind: 'change' | 'delete' | 'undo'
  readonly request: unknown
  /** The fix of a resolution, by project id. */
  readonly fixes: Readonly<Record<string, Fix>>
  readonly undoes: string | null
  readonly issueIds: readonly string[]
  readonly now: Date
}

/** @returns whether it is new; of two parallel calls with one id, the second waits and gets false */
export async function insertOperation(tx: Tx, operation: NewOperation): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('bulk_operations')
    .values({
      id: operation.id,
      org_id: operation.orgId,
      actor_id: operation.actorId,
      kind: operation.kind,
      request: JSON.stringify(operation.request),
      fixes: JSON.stringify(operation.fixes),
      undoes: operation.undoes,
      state: 'running',
      total: operation.issueIds.length,
      created_at: operation.now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) return false
  await sql`insert into bulk_operation_issues (operation_id, position, issue_id)
    select ${operation.id}::uuid, k.position, k.id
    from unnest(${[...operation.issueIds]}::uuid[]) with ordinality k (id, position)`.execute(tx)
  return true
}

export type BulkSummary = {
  readonly count: number
  /** Null when they are of several projects. */
  readonly projectId: string | null
  /** The first ones. */
  readonly issueIds: readonly string[]
  readonly shortIds: readonly string[]
}

/** Summarises the ids that are issues of the organisation. */
export async function summarise(
  tx: Tx,
  orgId: string,
  issueIds: readonly string[],
  maxNamed: number,
): Promise<BulkSummary> {
  const { rows } = await sql<BulkSummary>`
    select count(*)::int as count,
      case when count(distinct i.project_id) = 1 then (array_agg(i.project_id))[1] end as "projectId",
      coalesce((array_agg(i.id order by k.position))[1:${maxNamed}::int], '{}') as "issueIds",
      coalesce((array_agg(upper(p.slug) || '-' || i.number order by k.position))[1:${maxNamed}::int], '{}') as "shortIds"
    from unnest(${[...issueIds]}::uuid[]) with ordinality k (id, position)
    join issues i on i.id = k.id and i.org_id = ${orgId}
    join projects p on p.id = i.project_id`.execute(tx)
  return rows[0] ?? { count: 0, projectId: null, issueIds: [], shortIds: [] }
}

export const selectOperation = (db: Connection, operationId: string) =>
  db
    .selectFrom('bulk_operations as o')
    .leftJoin('bulk_operations as u', 'u.undoes', 'o.id')
    .selectAll('o')
    .select('u.id as undone_by')
    .where('o.id', '=', operationId)
    .executeTakeFirst()

/** Whether the operation was started with the same request. */
export async function isSameRequest(db: Connection, operationId: string, request: unknown): Promise<boolean> {
  const { rows } = await sql<{ same: boolean }>`
    select request = ${JSON.stringify(request)}::jsonb as same from bulk_operations where id = ${operationId}`.execute(
    db,
  )
  return rows[0]?.same === true
}

/** Locks the operation, so that two processes work on it batch by batch in turn. */
export const lockOperation = (tx: Tx, operationId: string) =>
  tx.selectFrom('bulk_operations').selectAll().where('id', '=', operationId).forUpdate().executeTakeFirst()

export type Waiting = { readonly position: number; readonly issueId: string }

/** The next issues without a result. */
export async function nextIssues(db: Connection, operationId: string, max: number): Promise<Waiting[]> {
  const rows = await db
    .selectFrom('bulk_operation_issues')
    .select(['position', 'issue_id'])
    .where('operation_id', '=', operationId)
    .where('result', 'is', null)
    .orderBy('position')
    .limit(max)
    .execute()
  return rows.map((row) => ({ position: row.position, issueId: row.issue_id }))
}

export type Done = {
  readonly position: number
  readonly result: BulkResult
  readonly error?: string
  readonly before?: Snapshot | undefined
  readonly after?: Snapshot | undefined
}

/** Writes the result of each issue once and counts it. */
export async function writeResults(tx: Tx, operationId: string, done: readonly Done[]): Promise<void> {
  const { rows } = await sql<{ result: BulkResult }>`
    update bulk_operation_issues b set result = k.result, error = k.error, before = k.before, after = k.after
    from jsonb_to_recordset(${JSON.stringify(done)}::jsonb)
      k (position int, result text, error text, before jsonb, after jsonb)
    where b.operation_id = ${operationId} and b.position = k.position and b.result is null
    returning b.result`.execute(tx)
  const count = (result: BulkResult) => rows.filter((row) => row.result === result).length
  await tx
    .updateTable('bulk_operations')
    .set((eb) => ({
      changed: eb('changed', '+', count('changed')),
      unchanged: eb('unchanged', '+', count('unchanged')),
      failed: eb('failed', '+', count('failed')),
    }))
    .where('id', '=', operationId)
    .execute()
}

export async function finishOperation(tx: Tx, operationId: string, now: Date): Promise<void> {
  await tx
    .updateTable('bulk_operations')
    .set({ state: 'done', finished_at: now })
    .where('id', '=', operationId)
    .where('state', '=', 'running')
    .execute()
}

/** Results in the order of the request, one more than `limit`. */
export function selectResults(
  db: Connection,
  operationId: string,
  page: { limit: number; offset: number; after: number; result?: BulkResult | undefined },
) {
  let query = db
    .selectFrom('bulk_operation_issues')
    .select(['position', 'issue_id', 'result', 'error'])
    .where('operation_id', '=', operationId)
    .where('position', '>', page.after)
  if (page.result !== undefined) query = query.where('result', '=', page.result)
  return query
    .orderBy('position')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
}

/** The issues that an operation changed, in its order. */
export async function changedIssues(db: Connection, operationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('bulk_operation_issues')
    .select('issue_id')
    .where('operation_id', '=', operationId)
    .where('result', '=', 'changed')
    .orderBy('position')
    .execute()
  return rows.map((row) => row.issue_id)
}

/** The values of these issues before and after an operation. */
export async function selectTraces(
  tx: Tx,
  operationId: string,
  issueIds: readonly string[],
): Promise<Map<string, { before: Snapshot; after: Snapshot }>> {
  const { rows } = await sql<{ issue_id: string; before: Snapshot; after: Snapshot }>`
    select issue_id, before, after from bulk_operation_issues
    where operation_id = ${operationId} and result = 'changed' and issue_id = any(${[...issueIds]}::uuid[])`.execute(tx)
  return new Map(rows.map((row) => [row.issue_id, row]))
}

const LIFE = [
  'status',
  'status_reason',
  'status_changed_at',
  'open_since',
  'resolved_at',
  'resolved_in_release',
  'resolution',
  'pending_commit',
  'ignore_until',
  'ignore_progress',
  'unignore_at',
  'escalated_at',
  'over_limit_at',
] as const
const SEVERITY = ['severity', 'severity_pinned'] as const
const COLUMNS = [...LIFE, ...SEVERITY, 'assignee_id'] as const

/** Every column of an issue that a member can change. */
export type Snapshot = Readonly<Record<(typeof COLUMNS)[number], unknown>>

const columns = sql.raw(COLUMNS.map((column) => `'${column}', i.${column}`).join(', '))

export type Locked = {
  readonly projectId: string
  readonly snapshot: Snapshot
  /** It is merged into another issue. */
  readonly isHidden: boolean
}

/** Locks issues of an organisation in the order of their ids, as digestion does; returns their values and projects. */
export async function lockSnapshots(tx: Tx, orgId: string, issueIds: readonly string[]): Promise<Map<string, Locked>> {
  const { rows } = await sql<{ id: string; project_id: string; is_hidden: boolean; snapshot: Snapshot }>`
    select i.id, i.project_id, i.merged_into is not null as is_hidden, jsonb_build_object(${columns}) as snapshot from issues i
    where i.id = any(${[...issueIds]}::uuid[]) and i.org_id = ${orgId} order by i.id for update`.execute(tx)
  return new Map(
    rows.map((row) => [row.id, { projectId: row.project_id, snapshot: row.snapshot, isHidden: row.is_hidden }]),
  )
}

/** Projects of the organisation in which these issues are. */
export async function selectIssueProjects(
  db: Connection,
  orgId: string,
  issueIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ project_id: string }>`
    select distinct project_id from issues where org_id = ${orgId} and id = any(${[...issueIds]}::uuid[])`.execute(db)
  return rows.map((row) => row.project_id)
}

/** Which of these users still have a membership of the organisation. */
export async function selectRemainingMembers(tx: Tx, orgId: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select user_id as id from memberships where org_id = ${orgId} and user_id = any(${[...ids]}::uuid[])`.execute(tx)
  return new Set(rows.map((row) => row.id))
}

/** Restores issues from snapshots. */
export const restoreSnapshots = (
  tx: Tx,
  issues: readonly { readonly id: string; readonly snapshot: Snapshot }[],
): Promise<void> =>
  restoreColumns(
    tx,
    COLUMNS,
    issues.map(({ id, snapshot }) => ({ ...snapshot, id })),
  )

/** Deletes operations that ended before a time. */
export async function deleteOperations(db: Connection, before: Date): Promise<void> {
  await db.deleteFrom('bulk_operations').where('created_at', '<', before).where('state', '=', 'done').execute()
}
