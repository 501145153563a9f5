import type pg from 'pg'
import { findIssuesOf, type EventKey } from '../events/store.ts'
import type { NewFeedback } from '../feedback/feedback.ts'
import { findAwaited, insertFeedback, linkFeedback } from '../feedback/feedback.queries.ts'
import { publishLive } from '../live/publish.ts'
import { ACCEPTED, DUPLICATE } from './item.ts'
import type { Recorder } from './recorders.ts'

/** Feedback, each once, with the issue of its event where that event is stored already (in this batch, too). */
export const recordFeedback: Recorder<NewFeedback> = async (_app, client, _now, facts) => {
  const keys = facts.map(({ fact, filing }) => `${filing.projectId}/${fact.feedbackId}`)
  const first = new Map(facts.map((one, index) => [keys[index] ?? '', one] as const).toReversed())
  const issues = await findIssuesOf(
    client,
    facts.flatMap(({ fact: { eventId }, filing: { projectId } }) => (eventId === null ? [] : [{ projectId, eventId }])),
  )
  // A fixed order, so that two writers never wait for each other in a circle.
  const rows = [...first].sort(([a], [b]) => (a < b ? -1 : 1))
  const inserted = await insertFeedback(
    client,
    rows.map(([, { fact, filing }]) => ({
      projectId: filing.projectId,
      receivedAt: filing.receivedAt,
      feedback: fact,
      issueId: issues.get(`${filing.projectId}/${fact.eventId}`) ?? null,
    })),
  )
  const touched = new Map<string, { orgId: string; issueIds: Set<string> }>()
  for (const [, { fact, filing }] of rows) {
    const issueId = issues.get(`${filing.projectId}/${fact.eventId}`)
    if (issueId === undefined) continue
    const project = touched.get(filing.projectId) ?? { orgId: filing.orgId, issueIds: new Set<string>() }
    touched.set(filing.projectId, project)
    project.issueIds.add(issueId)
  }
  for (const [projectId, { orgId, issueIds }] of touched)
    await publishLive(client, orgId, {
      kind: 'issues',
      project_id: projectId,
      issue_ids: [...issueIds],
      new_issue_ids: [],
      event_count: 0,
    })
  return facts.map((one, index) => {
    const key = keys[index] ?? ''
    return first.get(key) === one && inserted.has(key) ? ACCEPTED : DUPLICATE
  })
}

/** For events just stored: feedback that came before them learns its issue. */
export async function linkWaitingFeedback(client: pg.ClientBase, events: readonly EventKey[]): Promise<void> {
  const awaited = await findAwaited(client, events)
  if (awaited.length > 0) await linkFeedback(client, await findIssuesOf(client, awaited))
}
