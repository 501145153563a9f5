import type { FactInContext, ItemOutcome } from '../../events/items/recorder.ts'
import type { Tx } from '../../platform/storage/database.ts'
import * as sql from './journeys.queries.ts'
import { MINUTE_MS, DAY_MS } from '../../platform/kernel/day.ts'
import { purgeTask } from '../../platform/jobs/purge.ts'
import { JOURNEY_ROWS } from './journeys.queries.ts'

/** An event and the journeys that it names as an unhandled error. */
type JourneyEvent = {
  readonly event: { readonly projectId: string; readonly occurredAt: Date }
  readonly journeys: readonly string[]
}

/**
 * Counts unhandled errors that name a journey, with one row per journey and minute of a batch. Duplicates do not count.
 * @param outcomes of the events, in their order
 */
export async function recordJourneyErrors(
  tx: Tx,
  facts: readonly FactInContext<JourneyEvent>[],
  outcomes: readonly ItemOutcome[],
): Promise<void> {
  const counted = new Map<string, sql.JourneyErrors>()
  // The same event may be twice in a batch: both have an outcome, only one of them is accepted.
  for (const [index, { fact }] of facts.entries()) {
    if (fact.journeys.length === 0 || outcomes[index]?.outcome !== 'accepted') continue
    const { projectId, occurredAt } = fact.event
    const minute = Math.floor(occurredAt.getTime() / MINUTE_MS) * MINUTE_MS
    for (const journey of fact.journeys) {
      const key = `${projectId}/${minute}/${journey}`
      const errors = (counted.get(key)?.errors ?? 0) + 1
      counted.set(key, { projectId, minute: new Date(minute), journey, errors })
    }
  }
  if (counted.size > 0) await sql.insertErrors(tx, [...counted.values()])
}

/** A dry run looks back seven days, each moment over its window of up to a day. */
export const purgeJourneysTask = purgeTask('purge-journeys', '34 * * * *', [
  { rows: JOURNEY_ROWS, column: 'minute', kept: { ms: 8 * DAY_MS } },
])
