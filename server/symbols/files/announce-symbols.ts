import { publishLive } from '../../platform/live/publish.ts'
import { publish } from '../../platform/storage/bus.ts'
import type { Tx } from '../../platform/storage/database.ts'

/** The topic of the bus about projects whose files of symbols changed. */
export const SYMBOLS_TOPIC = 'symbols'

/**
 * Has every process forget what it knows about the files of these projects, and open dashboards read their events again, when
 * the transaction commits.
 */
export async function announceSymbols(tx: Tx, orgId: string, projectIds: readonly string[]): Promise<void> {
  if (projectIds.length === 0) return
  await publishLive(
    tx,
    projectIds.map((id) => ({ orgId, message: { kind: 'symbols', project_id: id } })),
  )
  await publish(tx, SYMBOLS_TOPIC, ...projectIds.map((id) => ({ project_id: id })))
}
