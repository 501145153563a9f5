import type { Tx } from '../storage/database.ts'
import { findIssuesOf, type EventKey } from '../events/store.queries.ts'
import type { NewFeedback } from './feedback.ts'
import { findAwaited, insertFeedback, linkFeedback } from './feedback.queries.ts'
import { ACCEPTED, DUPLICATE } from '../outcomes/recorder.ts'
import type { Recorder } from '../outcomes/recorder.ts'
import { publishIssues } from '../issue-rows/publish-issues.ts'

/** Feedback, each once, with the issue of its event where that event is stored already (in this batch, too). */
export const recordFeedback: Recorder<NewFeedback> = async (tx, _now, facts) => {
  const keys = facts.map(({ fact, context }) => `${context.projectId}/${fact.feedbackId}`)
  const first = new Map(facts.map((one, index) => [keys[index] ?? '', one] as const).toReversed())
  const issues = await findIssuesOf(
    tx,
    facts.flatMap(({ fact: { eventId }, context: { projectId } }) =>
      eventId === null ? [] : [{ projectId, eventId }],
    ),
  )
  // In a fixed order, so that two writers cannot deadlock.
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
  await publishIssues(
    tx,
    rows.flatMap(([, { fact, context }]) => {
      const issueId = issues.get(`${context.projectId}/${fact.eventId}`)
      return issueId === undefined ? [] : [{ context, issueId }]
    }),
  )
  return facts.map((one, index) => {
    const key = keys[index] ?? ''
    return first.get(key) === one && inserted.has(key) ? ACCEPTED : DUPLICATE
  })
}

/** For events just stored: feedback that came before them learns its issue. */
export async function linkWaitingFeedback(tx: Tx, events: readonly EventKey[]): Promise<void> {
  const awaited = await findAwaited(tx, events)
  if (awaited.length > 0) await linkFeedback(tx, await findIssuesOf(tx, awaited))
}
