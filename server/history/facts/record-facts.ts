import { memberBehind } from '../../platform/context/actor.ts'
import type { FactContext } from '../../platform/context/fact-context.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { writeActivity } from './activity.queries.ts'
import { factKind, type Fact, type NewFact } from './kinds.ts'
import { publishFacts } from './publish-facts.ts'
import { writeInboxes } from './write-inboxes.ts'

/**
 * Records what a change did, in the transaction of the change: writes the activity, notifies and subscribes members,
 * publishes live messages, and calls the subscribers. Any number of facts costs one statement per way.
 * @param context `factContext` makes it
 */
export async function recordFacts(tx: Tx, context: FactContext, facts: readonly Fact[]): Promise<void> {
  if (facts.length === 0) return
  const recorded = facts.map((fact): NewFact => ({ ...fact, id: newId(), at: fact.at ?? context.at }))
  const entries = recorded.flatMap((fact) => {
    const { activity } = factKind(fact.kind)
    if (activity === undefined || !('issueId' in fact) || !('sentence' in fact)) return []
    const { id, entryId = id, issueId, sentence, data, at } = fact
    return [{ id: entryId, issueId, kind: activity, sentence, data, at }]
  })
  if (entries.length > 0) await writeActivity(tx, context.actor, entries)
  const inboxes = await writeInboxes(tx, context, memberBehind(context.actor)?.userId ?? null, recorded)
  await publishFacts(tx, recorded, inboxes)
  for (const subscriber of context.subscribers) await subscriber(tx, context, recorded)
}
