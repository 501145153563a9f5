import type { Actor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { deleteEventsOf } from '../events/store.ts'
import { notFound } from '../kernel/errors.ts'
import { liveNotification } from '../live/publish.ts'
import { lockIssue } from './issues.queries.ts'

/**
 * Removes an issue with its events, counts, comments and activity. Later events of the same fingerprint make a new one.
 * @throws AppError not_found
 */
export async function deleteIssue(app: App, actor: Actor, issueId: string): Promise<void> {
  await app.tx(async (tx) => {
    const issue = await lockIssue(tx, actor, issueId)
    if (issue === undefined) throw notFound('Issue')
    await deleteEventsOf(tx, issueId)
    await tx.deleteFrom('issue_hours').where('issue_id', '=', issueId).execute()
    await tx.deleteFrom('issue_users').where('issue_id', '=', issueId).execute()
    // Fingerprints, activity and comments go with the row.
    await tx.deleteFrom('issues').where('id', '=', issueId).execute()
    await liveNotification(actor.orgId, {
      kind: 'issues',
      project_id: issue.project_id,
      issue_ids: [issueId],
      new_issue_ids: [],
      event_count: 0,
    }).execute(tx)
  })
}
