import { publish } from '../storage/bus.ts'
import type { Tx } from '../storage/database.ts'
import { OUTBOX_TOPIC } from './delivery.ts'
import { lockForReplay, markReplays } from './outbox.queries.ts'

/**
 * `accepted`: one attempt is made immediately. `accepted_in_flight`: it is made as soon as the attempt in flight has ended.
 * `erased`, `closed`: refused, because the body is erased or nothing is sent on this lane any more.
 */
export type ReplayAnswer = 'accepted' | 'accepted_in_flight' | 'erased' | 'closed'

type ReplayedDelivery = {
  readonly id: string
  readonly laneId: string
  readonly messageId: string
  readonly type: string
  readonly answer: ReplayAnswer
}

/**
 * Asks for one more attempt of each delivery, in whatever state. The attempt is none of the schedule's: a running schedule
 * ends when it succeeds and continues when it fails.
 * @param retries begins a new schedule when the attempt fails and no schedule is running
 * @returns one answer for each delivery of the organisation, ordered by id; others are missing
 */
export async function requestReplay(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  { retries }: { readonly retries: boolean },
): Promise<ReplayedDelivery[]> {
  const found = (await lockForReplay(tx, orgId, ids)).map(({ isErased, isClosed, isLeased, ...delivery }) => ({
    ...delivery,
    answer: isErased
      ? ('erased' as const)
      : isClosed
        ? ('closed' as const)
        : isLeased
          ? ('accepted_in_flight' as const)
          : ('accepted' as const),
  }))
  const accepted = found.filter(({ answer }) => answer === 'accepted' || answer === 'accepted_in_flight')
  if (accepted.length > 0) {
    await markReplays(
      tx,
      accepted.map(({ id }) => id),
      retries ? 'with_retries' : 'once',
    )
    await publish(tx, OUTBOX_TOPIC, null)
  }
  return found
}
