import type { FactContext } from '../context/fact-context.ts'
import type { Tx } from '../storage/database.ts'
import { findStored } from '../events/store.queries.ts'
import { dayOf } from '../kernel/day.ts'
import type { Occurrence } from './occurrence.ts'
import { recordOccurrences, type Recorded } from './record.ts'
import { touchProjects } from '../projects/recording.queries.ts'
import { publishLive } from '../live/publish.ts'
import { ACCEPTED, DISCARDED_ISSUE, type ItemOutcome, DUPLICATE, type FactInContext } from '../outcomes/recorder.ts'
import { linkWaitingFeedback } from '../feedback/record-feedback.ts'

/** The recorder of events. An event whose id is in the batch already, or was stored within the last days, is a duplicate. */
export async function recordEvents(
  tx: Tx,
  now: Date,
  facts: readonly FactInContext<Occurrence>[],
  _context?: FactContext,
  isBehind = false,
): Promise<readonly ItemOutcome[]> {
  const first = new Map<string, Occurrence>()
  const keys = facts.map(({ fact: { event } }) => `${event.projectId}/${event.eventId}`)
  const isFirst = facts.map(({ fact }, index) => {
    const key = keys[index] ?? ''
    if (first.has(key)) return false
    first.set(key, fact)
    return true
  })
  const stored = await findStored(
    tx,
    [...first.values()].map(({ event }) => event),
    dayOf(now),
  )
  const fresh = [...first].filter(([key]) => !stored.has(key)).map(([, occurrence]) => occurrence)
  if (fresh.length === 0) return keys.map(() => DUPLICATE)
  const recorded = await recordOccurrences(tx, now, fresh, isBehind)
  await linkWaitingFeedback(
    tx,
    fresh.map(({ event }) => event),
  )
  await publishChanges(tx, now, recorded)
  return facts.map(({ fact }, index) => {
    if (isFirst[index] !== true || stored.has(keys[index] ?? '')) return DUPLICATE
    return recorded.discarded.has(fact) ? DISCARDED_ISSUE : ACCEPTED
  })
}

/** Updates the projects and publishes a live message for each. */
async function publishChanges(tx: Tx, now: Date, recorded: Recorded): Promise<void> {
  await touchProjects(
    tx,
    [...recorded.projects.keys()].map((id) => ({ id, at: now })),
  )
  for (const [projectId, { orgId, issueIds, newIssueIds, eventCount }] of recorded.projects) {
    await publishLive(tx, orgId, {
      kind: 'issues',
      project_id: projectId,
      issue_ids: [...issueIds],
      new_issue_ids: [...newIssueIds],
      event_count: eventCount,
    })
  }
}
