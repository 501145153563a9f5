import type { App } from '../../platform/context/app.ts'
import { purgeBefore } from '../../platform/jobs/purge.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'
import { generalSettings } from './general-settings.ts'
import { selectAllSettings } from './projects.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { deleteRows, type OwnRows } from '../../platform/storage/own-rows.ts'

/** Rows of a project that are deleted with it, as the room that owns their tables declares them. */
export type ProjectPart = {
  readonly tables: readonly string[]
  /** About so many rows are deleted in one transaction: a few dozen milliseconds. */
  readonly max: number
  /**
   * Deletes about `max` rows of a deleted project. May be called again at any time.
   * @returns the number of deleted rows; 0 when none is left
   */
  readonly deleteRows: (tx: Tx, projectId: string, max: number) => Promise<number>
}

/**
 * Tables with a column `project_id` whose rows are deleted together, in this order.
 * @param more tables whose rows the database deletes with these, and a lock that the deletion needs
 */
export const projectPart = (
  max: number,
  rows: readonly OwnRows[],
  more: { readonly cascades?: readonly string[]; readonly lock?: (tx: Tx, projectId: string) => Promise<void> } = {},
): ProjectPart => ({
  tables: [...rows.map(({ table }) => table), ...(more.cascades ?? [])],
  max,
  async deleteRows(tx, projectId, most) {
    await more.lock?.(tx, projectId)
    let deleted = 0
    for (const own of rows) deleted += await deleteRows(tx, own, { equal: { project_id: projectId } }, most, 'wait')
    return deleted
  },
})

/**
 * Deletes rows older than the retention of their project, in small transactions.
 * @param column a time
 * @returns number of deleted rows
 */
export async function purgeRetained(
  app: App,
  rows: OwnRows,
  column: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  let deleted = 0
  for (const { id, settings } of await selectAllSettings(app.db)) {
    const before = new Date(app.clock.now().getTime() - generalSettings(settings).retention_days * DAY_MS)
    deleted += await purgeBefore(app, rows, { equal: { project_id: id }, before: [column, before] }, signal)
  }
  return deleted
}
