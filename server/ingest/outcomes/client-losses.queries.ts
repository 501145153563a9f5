import type { Tx } from '../../platform/storage/database.ts'
import type { ClientLoss } from '../../events/protocol/client-report.ts'

export type LossRow = ClientLoss & { readonly projectId: string; readonly hour: Date }

/** Maximum combinations of kind, reason and category per project and hour; further reasons count as `other`. */
const MAX_SUMS = 200
const OTHER = 'other'

const hourKey = (row: { projectId: string; hour: Date }): string => `${row.projectId} ${row.hour.getTime()}`
const sumKey = (row: LossRow): string => `${hourKey(row)} ${row.kind} ${row.category} ${row.reason}`

/**
 * Adds losses to the hours of their projects. One process at a time digests a project, so no other transaction writes
 * between reading the existing sums and adding to them.
 */
export async function addLosses(tx: Tx, losses: readonly LossRow[]): Promise<void> {
  if (losses.length === 0) return
  const hours = new Map(losses.map((row) => [hourKey(row), row]))
  const { rows: known } = await tx.query<{
    project_id: string
    hour: Date
    kind: LossRow['kind']
    reason: string
    category: LossRow['category']
  }>({
    name: 'client-losses-known',
    text: `select project_id, hour, kind, reason, category from client_losses_hourly
           where (project_id, hour) in (select * from unnest($1::uuid[], $2::timestamptz[]))`,
    values: [[...hours.values()].map((row) => row.projectId), [...hours.values()].map((row) => row.hour)],
  })
  const sums = new Map<string, number>()
  const perHour = new Map<string, number>()
  for (const row of known) {
    const { project_id: projectId, hour, kind, reason, category } = row
    const key = hourKey({ projectId, hour })
    perHour.set(key, (perHour.get(key) ?? 0) + 1)
    sums.set(sumKey({ projectId, hour, kind, reason, category, quantity: 0 }), 0)
  }
  const rows = new Map<string, LossRow>()
  for (const given of losses) {
    let row = given
    let key = sumKey(row)
    if (!sums.has(key)) {
      const inHour = perHour.get(hourKey(row)) ?? 0
      if (inHour >= MAX_SUMS && row.reason !== OTHER) {
        row = { ...row, reason: OTHER }
        key = sumKey(row)
      }
      if (!sums.has(key)) perHour.set(hourKey(row), inHour + 1)
    }
    sums.set(key, (sums.get(key) ?? 0) + row.quantity)
    rows.set(key, row)
  }
  // In a fixed order, so that two writers cannot deadlock.
  const written = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const list = written.map(([, row]) => row)
  await tx.query({
    name: 'client-losses-add',
    text: `insert into client_losses_hourly (project_id, hour, kind, reason, category, quantity)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::bigint[])
           on conflict (project_id, hour, kind, reason, category) do update set quantity = client_losses_hourly.quantity + excluded.quantity`,
    values: [
      list.map((row) => row.projectId),
      list.map((row) => row.hour),
      list.map((row) => row.kind),
      list.map((row) => row.reason),
      list.map((row) => row.category),
      written.map(([key]) => sums.get(key) ?? 0),
    ],
  })
}
