import { z } from 'zod'
import { CATEGORIES } from '../../events/protocol/envelope.ts'
import type { App } from '../../platform/context/app.ts'
import { OutcomeSums } from '../outcomes/outcomes.ts'
import { packEntries, spoolPart, type SpoolEntry, unpackEntries } from '../spool/entry.ts'
import {
  deleteQuarantined,
  insertRows,
  newestQuarantined,
  type QuarantineFilter,
  takeQuarantined,
} from '../spool/spool.queries.ts'

/** Requests of one transaction: each may hold many megabytes. */
const PIECE = 10

const Counted = z.array(z.tuple([z.enum(CATEGORIES), z.number()]))

/**
 * Moves requests from quarantine to the spool, which digestion reads: with their time of receipt, and without the attempts
 * that failed. They no longer count as dropped, except those that an earlier version put there, which did not note their
 * counts. Those that fail again return to quarantine, as new rows, and the call
 * does not take them again.
 * @returns how many were moved, and how many cannot be read any more and stay
 */
export async function retryQuarantined(
  app: App,
  filter: QuarantineFilter,
  signal: AbortSignal,
): Promise<{ readonly moved: number; readonly unreadable: number }> {
  let [moved, unreadable] = [0, 0]
  // Requests that fail again meanwhile are newer.
  const lastId = await newestQuarantined(app.db)
  for (let afterId = 0; ;) {
    const done = await app.tx(async (tx) => {
      const rows = await takeQuarantined(tx, filter, { afterId, lastId, max: PIECE })
      const sums = new OutcomeSums()
      let readable = 0
      for (const row of rows) {
        const entry = readEntry(row)
        if (entry === null) continue
        readable++
        const { projectId, projectNumber, keyId, body } = entry
        const part = spoolPart(projectNumber)
        // The old time, because erasures and packing wait for what was received before them.
        const receivedAt = new Date(entry.receivedAtMs)
        const entries = packEntries([entry])
        await insertRows(tx, [{ part, projectNumber, receivedAt, entryCount: 1, entries, body }], [part])
        await deleteQuarantined(tx, row.id)
        for (const [category, quantity] of Counted.parse(row.counted ?? []))
          sums.add({
            projectId,
            keyId,
            receivedAt,
            category,
            outcome: 'dropped',
            reason: 'quarantine',
            quantity: -quantity,
          })
      }
      sums.write(tx)
      return { taken: rows.length, readable, reachedId: rows.at(-1)?.id ?? afterId }
    })
    moved += done.readable
    unreadable += done.taken - done.readable
    afterId = done.reachedId
    if (done.taken < PIECE || signal.aborted) return { moved, unreadable }
  }
}

function readEntry(row: { readonly entry: Buffer; readonly body: Buffer }): SpoolEntry | null {
  try {
    return unpackEntries(row.entry, row.body)[0] ?? null
  } catch {
    return null
  }
}
