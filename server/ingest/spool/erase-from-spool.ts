import type { App } from '../../platform/context/app.ts'
import { unpackEntries, type SpoolEntry } from './entry.ts'
import { selectMovedUntil } from './log-position.queries.ts'
import { waitingInFile } from './spool-file.ts'
import { deleteQuarantined, hasRowsBefore, selectQuarantined } from './spool.queries.ts'

const PIECE = 10

/** A request is in the log so long after its receipt, clocks that differ included, or it was refused. */
const LOG_MARGIN_MS = 30_000

/** Whether everything received up to a time has been digested. */
export async function isDigestedUpTo(app: App, time: Date): Promise<boolean> {
  const log = app.config.intakeLog
  if (log !== null) {
    const movedUntil = await selectMovedUntil(app.db, log.stream)
    if (movedUntil === null || movedUntil.getTime() < time.getTime() + LOG_MARGIN_MS) return false
  }
  if (waitingInFile(app).some(({ receivedAtMs }) => receivedAtMs <= time.getTime())) return false
  return !(await hasRowsBefore(app.db, time))
}

/**
 * Deletes the requests in quarantine for which `holds` returns true.
 * @returns the number of deleted requests
 */
export async function eraseFromQuarantine(
  app: App,
  projectId: string,
  holds: (entry: SpoolEntry) => Promise<boolean>,
): Promise<number> {
  let removed = 0
  let after = 0
  for (;;) {
    const rows = await selectQuarantined(app.db, projectId, after, PIECE)
    for (const row of rows) {
      const [entry] = unpackEntries(row.entry, row.body)
      if (entry === undefined || !(await holds(entry))) continue
      await deleteQuarantined(app.db, row.id)
      removed++
    }
    after = rows.at(-1)?.id ?? after
    if (rows.length < PIECE) return removed
  }
}
