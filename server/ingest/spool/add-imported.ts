import type { Connection, Tx } from '../../platform/storage/database.ts'
import { packEntries, type SpoolEntry, spoolPart } from './entry.ts'
import { insertRows, stillWaiting } from './spool.queries.ts'

/** An event of an import. */
export type ImportedEvent = {
  /** JSON as an SDK sends it. */
  readonly body: Buffer
  /** When the source received it. */
  readonly receivedAtMs: number
}

type Target = Pick<SpoolEntry, 'projectId' | 'projectNumber' | 'keyId'>

/**
 * Adds events to the spool, with the transaction. They are recorded with their old times, and no alert, mail or webhook
 * comes from them.
 * @returns ids of the rows, for {@link isDigested}
 */
export async function addImported(
  tx: Tx,
  target: Target,
  events: readonly ImportedEvent[],
  now: Date,
): Promise<number[]> {
  const part = spoolPart(target.projectNumber)
  const ids: number[] = []
  for (const { body, receivedAtMs } of events) {
    const entry: SpoolEntry = {
      ...target,
      receivedAtMs,
      endpoint: 'store',
      encoding: 'none',
      clientIp: null,
      userAgent: null,
      origin: null,
      sdkClient: null,
      eventId: null,
      dropped: [],
      isImported: true,
      body,
    }
    const row = {
      part,
      projectNumber: target.projectNumber,
      receivedAt: now,
      entryCount: 1,
      entries: packEntries([entry]),
      body,
    }
    const [id] = await insertRows(tx, [row], [part])
    if (id != null) ids.push(id)
  }
  return ids
}

/** Whether none of the rows waits for digestion. */
export const isDigested = async (db: Connection, projectNumber: number, ids: readonly number[]): Promise<boolean> =>
  !(await stillWaiting(db, projectNumber, ids))
