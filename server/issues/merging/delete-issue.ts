import { type OrgActor, type SystemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { deleteEventAttachments } from '../../events/attachments/attachments.queries.ts'
import { deleteIssueEvents } from '../../events/store/store.queries.ts'
import { deleteFeedbackOfIssue } from '../feedback/feedback.queries.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { aboutIssue } from '../rows/view-issue.ts'
import { changeRelation, selectGroupIds, lockIssues } from '../rows/groups.queries.ts'
import { lockIssue, selectIssue } from '../rows/issues.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { deleteCounts, deleteIssueRows } from '../rows/delete-rows.queries.ts'

/** Events deleted in one transaction. Of a day that is not packed yet, each may be in a block of its own to write again. */
const BATCH = 1_000
/** Users, and hours, deleted in one transaction. */
const COUNTS_BATCH = 50_000
/** Faultline itself, in one organisation. */
type OrgSystem = SystemActor & { readonly orgId: string }

const MERGED = 'This issue was merged into another one. Delete that one, or unmerge this one first.'

/**
 * Deletes an issue with its events and their files, feedback, counts, comments and activity. Later events of the same
 * fingerprint create a new issue.
 * @throws AppError not_found; conflict (merged into another issue)
 */
export const deleteIssue = (app: App, actor: OrgActor | OrgSystem, issueId: string): Promise<void> =>
  removeIssue(app, actor, issueId, { within: () => Promise.resolve() })

/**
 * The same, by a bulk operation perhaps; `within` runs in the transaction that deletes the issue, just before.
 * @throws AppError not_found; conflict (merged into another issue)
 */
export async function removeIssue(
  app: App,
  actor: OrgActor | OrgSystem,
  issueId: string,
  {
    within,
    operationId = null,
  }: { readonly within: (tx: Tx, projectId: string) => Promise<unknown>; readonly operationId?: string | null },
): Promise<void> {
  const found = await selectIssue(app.db, actor, issueId)
  if (found === undefined) throw notFound('Issue')
  if (found.id !== issueId) throw conflict(MERGED)
  // In batches, each in its own transaction: millions of events or users would block digestion and exceed the statement
  // timeout. After an interruption the issue still exists with the rest, and can be deleted again.
  const before = await selectGroupIds(app.db, [issueId])
  for (const id of before) while ((await app.tx((tx) => deleteBatch(tx, id))) === BATCH);
  while (await app.tx((tx) => deleteCounts(tx, before, COUNTS_BATCH)));
  await app.tx(async (tx) => {
    await changeRelation(tx, found.project_id)
    const groups = await selectGroupIds(tx, [issueId])
    // With those merged into it, which are deleted too: bulk changes lock in the same order.
    await lockIssues(tx, groups)
    const issue = await lockIssue(tx, actor, issueId)
    if (issue === undefined) throw notFound('Issue')
    // It was merged meanwhile; the caller did not mean its merge target.
    if (issue.id !== issueId) throw conflict(MERGED)
    for (const id of groups) {
      // Events recorded meanwhile.
      while ((await deleteBatch(tx, id)) === BATCH);
      await deleteEventAttachments(tx, issue.project_id, await deleteFeedbackOfIssue(tx, id))
    }
    while (await deleteCounts(tx, groups, COUNTS_BATCH));
    await within(tx, issue.project_id)
    await recordFacts(tx, factContext(app, actor, app.clock.now(), operationId), [
      { kind: 'issue.deleted', ...aboutIssue(issue), data: {} },
    ])
    await deleteIssueRows(tx, [issueId])
  })
}

/** Deletes a batch of events with their attachments. Returns the number of events. */
async function deleteBatch(tx: Tx, issueId: string): Promise<number> {
  const events = await deleteIssueEvents(tx, issueId, BATCH)
  // The events of an issue have one project.
  const [first] = events
  if (first !== undefined)
    await deleteEventAttachments(
      tx,
      first.projectId,
      events.map(({ eventId }) => eventId),
    )
  return events.length
}
