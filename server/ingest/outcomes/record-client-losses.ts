import { addLosses } from './client-losses.queries.ts'
import type { ClientLoss } from '../../events/protocol/client-report.ts'
import type { Recorder } from '../../events/items/recorder.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** Sums by hour of receipt: the client's clock is not reliable. */
export const recordClientLosses: Recorder<readonly ClientLoss[]> = async (client, _context, facts) => {
  await addLosses(
    client,
    facts.flatMap(({ fact, context: { projectId, receivedAt } }) => {
      const hour = new Date(Math.floor(receivedAt.getTime() / HOUR_MS) * HOUR_MS)
      return fact.map((loss) => ({ ...loss, projectId, hour }))
    }),
  )
  return null
}
