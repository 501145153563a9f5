import { deleteIssueRow } from './rating.queries.ts'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { deleteAttachmentsOf } from '../attachments/attachments.queries.ts'
import { deleteEventsOf } from '../events/store.queries.ts'
import { deleteFeedbackOfIssue } from '../feedback/feedback.queries.ts'
import { conflict, notFound } from '../kernel/errors.ts'
import { publishLive } from '../live/publish.ts'
import { sourceIds } from '../issue-events/sources.queries.ts'
import { lockIssue, selectIssue } from '../issue-rows/issues.queries.ts'
import type { Tx } from '../storage/database.ts'
import { dropCounts, ownIdsOf } from './merging.queries.ts'

const PIECE = 5_000
const HIDDEN = 'This issue was merged into another one. Delete that one, or unmerge this one first.'

/**
 * Removes an issue with its events and their files, feedback, counts, comments and activity. Later events of the same
 * fingerprint make a new one.
 * @throws AppError not_found; conflict (merged into another issue)
 */
export async function deleteIssue(app: App, actor: OrgActor, issueId: string): Promise<void> {
  await removeIssue(app, actor, issueId, (tx, projectId) =>
    publishLive(tx, actor.orgId, {
      kind: 'issues',
      project_id: projectId,
      issue_ids: [issueId],
      new_issue_ids: [],
      event_count: 0,
    }),
  )
}

/**
 * The same for callers that have something to add to the transaction in which the issue goes, just before it does.
 * @throws AppError not_found; conflict (merged into another issue)
 */
export async function removeIssue(
  app: App,
  actor: OrgActor,
  issueId: string,
  within: (tx: Tx, projectId: string) => Promise<unknown>,
): Promise<void> {
  const found = await selectIssue(app.db, actor, issueId)
  if (found === undefined) throw notFound('Issue')
  if (found.id !== issueId) throw conflict(HIDDEN)
  // In pieces, each a transaction: an issue of millions would hold up its next event, and run into the time limit.
  // Cut off half-way, the issue is still there and can be deleted again.
  for (const id of await sourceIds(app.db, found.id)) while ((await app.tx((tx) => deletePiece(tx, id))) === PIECE);
  await app.tx(async (tx) => {
    const issue = await lockIssue(tx, actor, issueId)
    if (issue === undefined) throw notFound('Issue')
    // Nobody means the issues another one is shown as.
    if (issue.id !== issueId) throw conflict(HIDDEN)
    const sources = await sourceIds(tx, issueId)
    for (const id of sources) {
      // Those that came meanwhile.
      while ((await deletePiece(tx, id)) === PIECE);
      await deleteAttachmentsOf(tx, issue.project_id, await deleteFeedbackOfIssue(tx, id))
    }
    await dropCounts(tx, [...new Set([...sources, ...(await ownIdsOf(tx, issueId))])])
    await within(tx, issue.project_id)
    await deleteIssueRow(tx, issueId)
  })
}

/** Some events with the files that came with them; returns how many events it were. */
async function deletePiece(tx: Tx, issueId: string): Promise<number> {
  const events = await deleteEventsOf(tx, issueId, PIECE)
  // All of one project, as their issue is.
  const [first] = events
  if (first !== undefined)
    await deleteAttachmentsOf(
      tx,
      first.projectId,
      events.map(({ eventId }) => eventId),
    )
  return events.length
}
