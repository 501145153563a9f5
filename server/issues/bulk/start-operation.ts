import { requireActingMember, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { addJob } from '../../platform/jobs/task.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { readMember } from '../../identity/team/members.queries.ts'
import { resolveFix } from '../triage/update-issue.ts'
import { MAX_SYNC_ISSUES, type BulkChange, type BulkOperation } from './bulk.api.ts'
import type { Fix } from '../rules/resolution.ts'
import {
  type BulkSummary,
  insertOperation,
  isSameRequest,
  selectIssueProjects,
  selectOperation,
  summarise,
} from './bulk.queries.ts'
import { CONTINUE_OPERATION, runOperation } from './run-operation.ts'
import { viewOperation } from './view-operation.ts'
import { issueIdsMatching } from '../search/list-issues.ts'
import { parseQuery } from '../search/parse-query.ts'
import { MAX_BULK_ISSUES } from '#shared/limits.ts'

type BulkTarget = {
  readonly ids?: readonly string[] | undefined
  readonly query?: BulkQuery | undefined
  readonly projectId?: string | string[] | undefined
  readonly operation_id?: string | undefined
}

/** The entry of a deletion names at most so many issues. */
const MAX_NAMED = 60

/** A job continues a small operation that its request did not finish after this time. */
const CONTINUE_AFTER_MS = 60_000

/**
 * Changes many issues: few in the request, many in a job.
 * @throws AppError invalid (nothing was changed), conflict (operation_id was used for another request)
 */
export async function changeIssues(app: App, actor: OrgActor, asked: BulkTarget & BulkChange): Promise<BulkOperation> {
  const { operation_id: id, ids, query, projectId, ...change } = asked
  const request = { ids, query, projectId, ...change }
  const known = await knownOperation(app, actor, id, request)
  if (known !== null) return known
  await checkChange(app, actor, change)
  const issueIds = await targets(app, actor, asked)
  const fixes = await fixesOf(app, actor, change, issueIds)
  return begin(app, actor, { id, kind: 'change', change, request, fixes, undoes: null, issueIds })
}

/**
 * Deletes many issues with their events and files.
 * @throws AppError invalid, conflict, as {@link changeIssues}
 */
export async function deleteIssues(app: App, actor: OrgActor, asked: BulkTarget): Promise<BulkOperation> {
  const { operation_id: id, ...rest } = asked
  const request = { ...rest, delete: true }
  const known = await knownOperation(app, actor, id, request)
  if (known !== null) return known
  const issueIds = await targets(app, actor, asked)
  return begin(app, actor, { id, kind: 'delete', change: {}, request, undoes: null, issueIds })
}

/**
 * The fix of the resolution in each project, decided once: a release that appears during the operation must not be the
 * next release for some of its issues only.
 */
async function fixesOf(
  app: App,
  actor: OrgActor,
  { resolution }: BulkChange,
  issueIds: readonly string[],
): Promise<Record<string, Fix>> {
  const fixes: Record<string, Fix> = {}
  if (resolution === undefined) return fixes
  for (const projectId of await selectIssueProjects(app.db, actor.orgId, issueIds))
    fixes[projectId] = await resolveFix(app, actor, projectId, resolution)
  return fixes
}

const targets = async (app: App, actor: OrgActor, { ids, query, projectId }: BulkTarget): Promise<readonly string[]> =>
  ids === undefined
    ? matchingIssues(app, actor, { ...query, ...(projectId === undefined ? {} : { projectId }) })
    : [...new Set(ids)]

/** Refuses a change that would fail for every issue. @throws AppError invalid */
async function checkChange(app: App, actor: OrgActor, change: BulkChange): Promise<void> {
  const time = change.ignore_until?.time
  if (time !== undefined && new Date(time) <= app.clock.now()) throw invalid('ignore_until.time must be in the future.')
  if (change.assignee_id == null) return
  const member = await readMember(app.db, actor.orgId, change.assignee_id)
  if (member === undefined) throw invalid('assignee_id is not a member of this organisation.')
}

/** The operation with this id; null when there is none. @throws AppError conflict */
async function knownOperation(
  app: App,
  actor: OrgActor,
  id: string | undefined,
  request: unknown,
): Promise<BulkOperation | null> {
  if (id === undefined) return null
  const row = await selectOperation(app.db, id)
  if (row === undefined) return null
  if (
    row.org_id !== actor.orgId ||
    row.actor_id !== requireActingMember(actor).userId ||
    !(await isSameRequest(app.db, id, request))
  )
    throw conflict('operation_id was used for another request. Use a new one.')
  return viewOperation(app, actor, id)
}

type Beginning = {
  readonly id?: string | undefined
  readonly kind: 'change' | 'delete' | 'undo'
  /** The change that the operation makes, or the change of the operation that it undoes. */
  readonly change: BulkChange
  readonly request: unknown
  readonly fixes?: Readonly<Record<string, Fix>>
  readonly undoes: string | null
  readonly issueIds: readonly string[]
}

/** Stores the operation, then runs it: immediately when it is small, otherwise in a job. */
export async function begin(
  app: App,
  actor: OrgActor,
  { id = newId(), change, ...rest }: Beginning,
): Promise<BulkOperation> {
  const now = app.clock.now()
  const isSync = rest.issueIds.length <= MAX_SYNC_ISSUES
  const isNew = await app.tx(async (tx) => {
    if (
      !(await insertOperation(tx, {
        fixes: {},
        ...rest,
        id,
        orgId: actor.orgId,
        actorId: requireActingMember(actor).userId,
        now,
      }))
    )
      return false
    const summary = await summarise(tx, actor.orgId, rest.issueIds, MAX_NAMED)
    await recordFacts(tx, factContext(app, actor, now), factsOfStart(actor, { id, change, ...rest }, summary))
    // Also for small operations: the job continues when the process is killed.
    await addJob(
      tx,
      CONTINUE_OPERATION,
      { operation_id: id },
      { key: `bulk ${id}`, ...(isSync ? { runAt: new Date(Date.now() + CONTINUE_AFTER_MS) } : {}) },
    )
    return true
  })
  if (!isNew) {
    const [known, undone] = await Promise.all([
      selectOperation(app.db, id),
      rest.undoes === null ? undefined : selectOperation(app.db, rest.undoes),
    ])
    if (known === undefined && undone?.undone_by != null) return viewOperation(app, actor, undone.undone_by)
    const same = await knownOperation(app, actor, id, rest.request)
    if (same !== null) return same
  }
  if (isNew && isSync) await runOperation(app, id, { requester: actor })
  return viewOperation(app, actor, id)
}

/**
 * One fact for each value that the operation changes, recorded when it starts: the request is known only now, and a kill
 * later loses nothing. How many issues really changed is a result of the operation.
 */
function factsOfStart(
  { orgId }: OrgActor,
  { id, kind, change, undoes }: Beginning & { readonly id: string },
  { count, projectId, issueIds, shortIds }: BulkSummary,
): Fact[] {
  const [issueId, ...others] = issueIds
  if (issueId === undefined) return []
  const about = {
    orgId,
    targetId: id,
    label: count === 1 ? (shortIds[0] ?? '') : `${count} issues`,
    ...(projectId === null ? {} : { projectId }),
    ...(others.length > 0 ? {} : { onlyIssueId: issueId }),
  }
  const operation = { operation_id: id, count }
  if (kind === 'delete') return [{ kind: 'issues.deleted', ...about, data: { ...operation, short_ids: shortIds } }]
  const dataOf = (to: string | null) => (undoes === null ? { ...operation, to } : { ...operation, undoes })
  const facts: Fact[] = []
  if (change.status !== undefined) facts.push({ kind: 'issues.status_changed', ...about, data: dataOf(change.status) })
  if (change.assignee_id !== undefined)
    facts.push({ kind: 'issues.assigned', ...about, data: dataOf(change.assignee_id) })
  if (change.severity !== undefined)
    facts.push({ kind: 'issues.severity_changed', ...about, data: dataOf(change.severity) })
  return facts
}

type Many<T> = T | T[]

/** The filters of the list in the body of a bulk request. */
type BulkQuery = {
  readonly q?: string | undefined
  readonly projectId?: Many<string> | undefined
  readonly status?: Many<'unresolved' | 'resolved' | 'ignored' | 'regressed' | 'escalated'> | undefined
  readonly severity?: Many<'critical' | 'high' | 'medium' | 'low'> | undefined
  readonly assignee_id?: Many<string> | undefined
  readonly platform?: Many<string> | undefined
  readonly seen_since?: string | undefined
}

const listed = <T>(value: Many<T> | undefined): T[] | undefined =>
  value === undefined ? undefined : Array.isArray(value) ? value : [value]

/**
 * The issues that a query finds, newest first.
 * @throws AppError invalid: a malformed query, or more than {@link MAX_BULK_ISSUES}
 */
async function matchingIssues(app: App, actor: OrgActor, query: BulkQuery): Promise<string[]> {
  // A list ignores punctuation without words; here that would mean every issue.
  if (query.q !== undefined && query.q.trim() !== '' && parseQuery(query.q, 'query') === null)
    throw invalid('query contains no search terms. Leave it empty for all issues.')
  const ids = await issueIdsMatching(
    app,
    actor,
    {
      q: query.q,
      projectId: listed(query.projectId),
      status: listed(query.status),
      severity: listed(query.severity),
      assignee_id: listed(query.assignee_id),
      platform: listed(query.platform),
      seen_since: query.seen_since,
    },
    MAX_BULK_ISSUES + 1,
    'query',
  )
  if (ids.length > MAX_BULK_ISSUES)
    throw invalid('query finds more than 10,000 issues, the maximum of one change. Narrow it.')
  return ids
}
