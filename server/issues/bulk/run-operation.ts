import { z } from 'zod'
import type { JobActor, OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { roleAtLeast } from '#shared/permissions.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import { readMember } from '../../identity/team/members.queries.ts'
import { changeIssues } from '../triage/change-issues.ts'
import { removeIssue } from '../merging/delete-issue.ts'
import { resolveFix } from '../triage/update-issue.ts'
import { fixFrom } from '../rules/life-columns.ts'
import type { StatusChange } from '../triage/change-status.ts'
import { selectLocked } from '../rows/issues.queries.ts'
import { BulkChange } from './bulk.api.ts'
import {
  finishOperation,
  deleteOperations,
  lockOperation,
  lockSnapshots,
  nextIssues,
  selectIssueProjects,
  selectOperation,
  writeResults,
  type Done,
  type Operation,
  type Waiting,
} from './bulk.queries.ts'
import { HIDDEN, undoIssues } from './undo-issues.ts'

export const CONTINUE_OPERATION = 'bulk-issues'
/** Issues per transaction. Their rows are locked until it ends. */
const BATCH = 100
const RETENTION_MS = 30 * 86_400_000

/**
 * Continues an operation until it is done. Stops early when the process stops; the job is then run again.
 * @param requester who asked for it, while the request still waits. Absent in a job: it acts as the member who started
 *   the operation.
 */
export async function runOperation(
  app: App,
  operationId: string,
  { requester, signal }: { readonly requester?: OrgActor; readonly signal?: AbortSignal } = {},
): Promise<void> {
  for (;;) {
    if (signal?.aborted === true) throw new Error('the process stops: the operation continues later')
    const operation = await selectOperation(app.db, operationId)
    if (operation === undefined || operation.state === 'done') return
    const waiting = await nextIssues(app.db, operationId, BATCH)
    if (waiting.length === 0) {
      await app.tx((tx) => finishOperation(tx, operationId, app.clock.now()))
      return
    }
    const actor = requester ?? (await jobActor(app, operation))
    if (actor === null)
      await failAll(app, operation, waiting, 'The member who started this operation no longer has the role for it.')
    else if (operation.kind === 'delete') await deleteBatch(app, actor, operation, waiting)
    else await changeBatch(app, actor, operation, waiting)
  }
}

/** The member who started the operation, with the role of now; null when it is no longer enough. */
async function jobActor(app: App, operation: Operation): Promise<JobActor | null> {
  const member = await readMember(app.db, operation.org_id, operation.actor_id)
  if (member === undefined || !roleAtLeast(member.role, operation.kind === 'delete' ? 'admin' : 'member')) return null
  return {
    kind: 'user',
    userId: member.id,
    name: member.name,
    orgId: operation.org_id,
    role: member.role,
    sessionId: null,
    origin: { kind: 'system', operation: `${CONTINUE_OPERATION} ${operation.id}` },
    requestId: null,
  }
}

const failAll = (app: App, operation: Operation, waiting: readonly Waiting[], error: string): Promise<void> =>
  app.tx((tx) =>
    writeResults(
      tx,
      operation.id,
      waiting.map(({ position }) => ({ position, result: 'failed', error })),
    ),
  )

/** One transaction for the batch. When it fails, one per issue, so that one issue does not block the others. */
async function changeBatch(
  app: App,
  actor: OrgActor,
  operation: Operation,
  waiting: readonly Waiting[],
): Promise<void> {
  try {
    await changeTogether(app, actor, operation, waiting)
  } catch (error) {
    if (isRetryable(error)) throw error
    if (waiting.length === 1) return failAll(app, operation, waiting, sentenceOf(app, operation, error))
    for (const one of waiting) await changeBatch(app, actor, operation, [one])
  }
}

async function changeTogether(
  app: App,
  actor: OrgActor,
  operation: Operation,
  waiting: readonly Waiting[],
): Promise<void> {
  const change = BulkChange.parse(operation.request)
  const fixes = await fixesOf(app, actor, operation, change, waiting)
  await app.tx(async (tx) => {
    const locked = await lockOperation(tx, operation.id)
    const next = await nextIssues(tx, operation.id, waiting.length)
    // Another run has continued in the meantime, after this one seemed dead.
    if (locked?.state !== 'running' || next[0]?.position !== waiting[0]?.position) return
    const ids = waiting.map(({ issueId }) => issueId)
    const before = await lockSnapshots(tx, actor.orgId, ids)
    const { id, undoes } = operation
    if (undoes !== null) return writeResults(tx, id, await undoIssues(app, tx, actor, { id, undoes }, waiting, before))
    const issues = await selectLocked(tx, actor, ids)
    const { resolution: _asked, ...rest } = change
    const changeOf = ({ project_id: projectId }: { readonly project_id: string }) => ({
      ...rest,
      resolution: fixes.get(projectId),
    })
    const changed = await changeIssues(app, tx, actor, issues, changeOf, id)
    const after = await lockSnapshots(tx, actor.orgId, [...changed])
    const done = waiting.map(({ position, issueId }): Done => {
      const issue = before.get(issueId)
      if (issue === undefined) return { position, result: 'failed', error: 'Issue not found.' }
      if (issue.isHidden) return { position, result: 'failed', error: HIDDEN }
      if (!changed.has(issueId)) return { position, result: 'unchanged' }
      return {
        position,
        result: 'changed',
        before: issue.snapshot,
        after: after.get(issueId)?.snapshot,
      }
    })
    await writeResults(tx, operation.id, done)
  })
}

/** The fix of the resolution in each project of the batch, as decided when the operation started. */
async function fixesOf(
  app: App,
  actor: OrgActor,
  operation: Operation,
  { resolution }: BulkChange,
  waiting: readonly Waiting[],
): Promise<Map<string, NonNullable<StatusChange['resolution']>>> {
  const fixes = new Map<string, NonNullable<StatusChange['resolution']>>()
  if (resolution === undefined) return fixes
  const stored = z.record(z.string(), z.unknown()).parse(operation.fixes)
  const projects = await selectIssueProjects(
    app.db,
    actor.orgId,
    waiting.map(({ issueId }) => issueId),
  )
  for (const projectId of projects) {
    const fix = fixFrom(stored[projectId]) ?? (await resolveFix(app, actor, projectId, resolution))
    fixes.set(projectId, { asked: resolution, fix })
  }
  return fixes
}

/** One transaction per issue, which also writes its result: an issue can have many rows. */
async function deleteBatch(
  app: App,
  actor: OrgActor,
  operation: Operation,
  waiting: readonly Waiting[],
): Promise<void> {
  for (const { position, issueId } of waiting) {
    try {
      await removeIssue(app, actor, issueId, {
        operationId: operation.id,
        within: (tx) => writeResults(tx, operation.id, [{ position, result: 'changed' }]),
      })
    } catch (error) {
      if (isRetryable(error)) throw error
      // When another run has just deleted it, the result of that run stays.
      await failAll(app, operation, [{ position, issueId }], sentenceOf(app, operation, error))
    }
  }
}

/** Whether a retry may succeed: the database is not reachable, or a deadlock or serialisation failure occurred. */
const isRetryable = (error: unknown): boolean =>
  isDatabaseAway(error) || (error instanceof Error && 'code' in error && /^40(001|P01)$/.test(String(error.code)))

function sentenceOf(app: App, operation: Operation, error: unknown): string {
  if (error instanceof AppError) return error.message
  app.log.error({ operation_id: operation.id, err: error }, 'changing an issue of a bulk operation failed')
  return 'The change failed. The log of the service has the reason.'
}

export const bulkIssuesTask = defineTask({
  name: CONTINUE_OPERATION,
  payload: z.object({ operation_id: z.uuid() }),
  run: (app, { operation_id: operationId }, signal) => runOperation(app, operationId, { signal }),
})

export const purgeOperationsTask = defineTask({
  name: 'purge-bulk-operations',
  payload: NoPayload,
  cron: '40 3 * * *',
  run: (app) => deleteOperations(app.db, new Date(app.clock.now().getTime() - RETENTION_MS)),
})
