import { sql } from 'kysely'
import type { LogLevel } from '../../events/protocol/telemetry.api.ts'
import { utcDay, MINUTE_MS } from '../../platform/kernel/day.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/** Log entries by minute and level. They change with the entries, in the same transaction. */

type Counted = {
  readonly projectId: string
  readonly receivedAt: Date
  readonly occurredAt: Date
  readonly level: string
}

/** Adds entries to the counts of their minutes; in the order of the key, so that two writers do not block each other. */
export async function addLogCounts(tx: Tx, entries: readonly Counted[]): Promise<void> {
  const sums = new Map<string, { row: Counted; minute: number; n: number }>()
  for (const row of entries) {
    const minute = Math.floor(row.occurredAt.getTime() / MINUTE_MS) * MINUTE_MS
    const key = `${row.projectId} ${new Date(minute).toISOString()} ${utcDay(row.receivedAt)} ${row.level}`
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, { row, minute, n: 1 })
    else sum.n += 1
  }
  if (sums.size === 0) return
  const sorted = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
  await sql`
    insert into log_counts (project_id, minute, received_day, level, entries)
    select * from unnest(
      ${sorted.map(({ row }) => row.projectId)}::uuid[], ${sorted.map(({ minute }) => new Date(minute).toISOString())}::timestamptz[],
      ${sorted.map(({ row }) => utcDay(row.receivedAt))}::date[], ${sorted.map(({ row }) => row.level)}::text[],
      ${sorted.map(({ n }) => n)}::bigint[])
    on conflict (project_id, minute, received_day, level) do update set entries = log_counts.entries + excluded.entries
  `.execute(tx)
}

type VolumeRow = { readonly at: Date; readonly level: LogLevel; readonly n: number }

/** Entries of a project by step and level, all of them. Reads one row per minute and level. */
export async function selectVolume(
  db: Connection,
  projectId: string,
  oldestDay: string,
  { from, to, stepSeconds }: { readonly from: Date; readonly to: Date; readonly stepSeconds: number },
): Promise<VolumeRow[]> {
  const { rows } = await sql<VolumeRow>`
    select date_bin(make_interval(secs => ${stepSeconds}::int), minute, ${from}::timestamptz) as at, level,
      sum(entries)::float8 as n
    from log_counts
    where project_id = ${projectId} and minute >= ${from} and minute < ${to} and received_day >= ${oldestDay}::date
    group by 1, 2`.execute(db)
  return rows
}

/** When the newest entry of a project occurred, to the minute; null without any. */
export async function selectNewestMinute(db: Connection, projectId: string, oldestDay: string): Promise<Date | null> {
  const { rows } = await sql<{ minute: Date }>`
    select minute from log_counts where project_id = ${projectId} and received_day >= ${oldestDay}::date and entries > 0
    order by minute desc limit 1`.execute(db)
  return rows[0]?.minute ?? null
}
