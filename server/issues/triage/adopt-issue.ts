import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/actor.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { newIdAt } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { adoptCounts, lockRelation } from '../rows/groups.queries.ts'
import { lockIssue } from '../rows/issues.queries.ts'
import { changeIssues, type PreparedChange } from './change-issues.ts'
import { insertComment } from './comments.queries.ts'

/** An issue of another service, of which some events are recorded here. */
export type AdoptedIssue = {
  /** The group of its events. */
  readonly groupId: string
  readonly issueId: string
  readonly projectId: string
  /** Events that were counted there and are not stored here. */
  readonly events: number
  readonly users: number
  readonly firstSeen: Date
  readonly lastSeen: Date
  /** Taken only while no member decided about the issue here. */
  readonly change: PreparedChange
  readonly comments: readonly AdoptedComment[]
}

export type AdoptedComment = {
  /** With the name of its author, when that is no member. */
  readonly body: string
  readonly authorId: string | null
  readonly authorName: string
  readonly at: Date
}

/**
 * Gives an issue what it had at another service: counts, times, status, assignee, comments.
 * @param app of `quietly`: no one is notified
 * @param operationId of the import: the audit log names the import, not each issue
 * @returns ids of the comments; null when the issue was deleted meanwhile
 */
export async function adoptIssue(
  app: App,
  tx: Tx,
  actor: OrgActor,
  adopted: AdoptedIssue,
  operationId: string,
): Promise<readonly string[] | null> {
  const { groupId, issueId, projectId, comments } = adopted
  await lockRelation(tx, [projectId])
  const issue = await lockIssue(tx, actor, issueId)
  if (issue === undefined) return null
  await adoptCounts(tx, { ...adopted, groupId })
  const isUntouched = issue.status === 'unresolved' && issue.status_reason === null && issue.assignee_id === null
  if (isUntouched) await changeIssues(app, tx, actor, [issue], () => adopted.change, operationId)
  const rows = comments.map((comment) => ({ ...comment, id: newIdAt(comment.at) }))
  for (const { id, body, authorId, at } of rows)
    await insertComment(tx, { id, issue_id: issueId, author_id: authorId, body, created_at: at })
  await recordFacts(
    tx,
    factContext(app, actor, app.clock.now(), operationId),
    rows.map(({ id, authorName, at }) => ({
      kind: 'comment.created' as const,
      orgId: actor.orgId,
      projectId,
      issueId,
      commentId: id,
      sentence: `${authorName} commented.`,
      data: {},
      at,
    })),
  )
  return rows.map(({ id }) => id)
}
