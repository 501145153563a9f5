import type { Connection } from '../storage/database.ts'

/**
 * The issue each of these is shown as: itself, or the one it was merged into. One look-up by primary keys; ids nobody
 * knows (any more) are left out.
 */
export async function shownAs(tx: Connection, issueIds: readonly string[]): Promise<Map<string, string>> {
  if (issueIds.length === 0) return new Map()
  const { rows } = await tx.query<{ id: string; shown: string }>({
    name: 'issues-shown-as',
    text: `select id, coalesce(merged_into, id) as shown from issues where id = any($1::uuid[])`,
    values: [issueIds],
  })
  return new Map(rows.map((row) => [row.id, row.shown]))
}
