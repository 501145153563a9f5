import type { Tx } from '../../platform/storage/database.ts'
import { findIssuesByEvent, type EventKey } from '../../events/store/store.queries.ts'
import type { NewFeedback } from './feedback.ts'
import { findAwaited, insertFeedback, linkFeedback } from './feedback.queries.ts'
import { ACCEPTED, DUPLICATE, type Recorder } from '../../events/items/recorder.ts'
import { recordItemsOfIssues } from '../rows/view-issue.ts'

/** Stores feedback once, with the issue of its event when that is stored already, also by this batch. */
export const recordFeedback: Recorder<NewFeedback> = async (tx, context, facts) => {
  const keys = facts.map(({ fact, context }) => `${context.projectId}/${fact.feedbackId}`)
  const first = new Map(facts.map((one, index) => [keys[index] ?? '', one] as const).toReversed())
  const issues = await findIssuesByEvent(
    tx,
    facts.flatMap(({ fact: { eventId }, context: { projectId } }) =>
      eventId === null ? [] : [{ projectId, eventId }],
    ),
  )
  // A fixed order, so that two transactions do not deadlock.
  const rows = [...first].sort(([a], [b]) => (a < b ? -1 : 1))
  const inserted = await insertFeedback(
    tx,
    rows.map(([, { fact, context }]) => ({
      projectId: context.projectId,
      receivedAt: context.receivedAt,
      feedback: fact,
      issueId: issues.get(`${context.projectId}/${fact.eventId}`) ?? null,
    })),
  )
  await recordItemsOfIssues(
    tx,
    context,
    'issue.feedback_received',
    rows.flatMap(([key, { fact, context: item }]) => {
      const issueId = issues.get(`${item.projectId}/${fact.eventId}`)
      return issueId === undefined || !inserted.has(key) ? [] : [{ context: item, issueId }]
    }),
  )
  return facts.map((one, index) => {
    const key = keys[index] ?? ''
    return first.get(key) === one && inserted.has(key) ? ACCEPTED : DUPLICATE
  })
}

/** Links feedback that waited for these events, which were just stored, to their issues. */
export async function linkWaitingFeedback(tx: Tx, events: readonly EventKey[]): Promise<void> {
  const awaited = await findAwaited(tx, events)
  if (awaited.length > 0) await linkFeedback(tx, await findIssuesByEvent(tx, awaited))
}
