import type { FactContext, RecordedFact } from '../../platform/context/actor.ts'
import { newPrefixedId } from '../../platform/kernel/ids.ts'
import type { Message, NewDelivery } from '../../platform/outbox/delivery.ts'
import { enqueue } from '../../platform/outbox/enqueue.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { markReopening, selectFollowed } from './trackers.queries.ts'

/** Name of the channel of {@link recordTrackers}. */
export const TRACKER_CHANNEL = 'tracker'

/** Reopens the tickets of issues that regressed, when the transaction commits. */
export async function recordTrackers(tx: Tx, _context: FactContext, facts: readonly RecordedFact[]): Promise<void> {
  const regressed = new Map(
    facts.flatMap(({ kind, issueId, sentence }) =>
      kind === 'issue.regressed' && issueId !== undefined ? [[issueId, sentence ?? ''] as const] : [],
    ),
  )
  if (regressed.size === 0) return
  const tickets = await selectFollowed(tx, [...regressed.keys()])
  if (tickets.length === 0) return
  await markReopening(
    tx,
    tickets.map(({ issue_id: id }) => id),
  )
  const messages: Message[] = []
  const deliveries: NewDelivery[] = []
  for (const { issue_id: issueId, integration_id: laneId, org_id: orgId } of tickets) {
    const messageId = newPrefixedId('evt')
    const body = { issue_id: issueId, sentence: regressed.get(issueId) ?? '' }
    messages.push({
      id: messageId,
      orgId,
      type: 'tracker.reopen',
      userId: null,
      body: Buffer.from(JSON.stringify(body)),
    })
    deliveries.push({ messageId, laneId })
  }
  await enqueue(tx, messages, deliveries)
}
