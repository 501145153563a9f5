import type { Connection } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

export type UsageToAdd = { readonly orgId: string; readonly day: string; readonly events: number }

/** Adds usage. @returns the sums afterwards, by `<org id> <day>` */
export async function addUsage(db: Connection, usages: readonly UsageToAdd[]): Promise<Map<string, number>> {
  // In a fixed order, so that two writers cannot deadlock.
  const rows = usages.toSorted((a, b) => (a.orgId < b.orgId ? -1 : 1))
  const result = await db.query<{ org_id: string; day: string; events: number }>(
    `insert into org_usage_daily (org_id, day, events)
     select * from unnest($1::uuid[], $2::date[], $3::bigint[])
     on conflict (org_id, day) do update set events = org_usage_daily.events + excluded.events
     returning org_id, day, events`,
    [rows.map((row) => row.orgId), rows.map((row) => row.day), rows.map((row) => row.events)],
  )
  return new Map(result.rows.map((row) => [`${row.org_id} ${row.day}`, row.events]))
}

/** The usage of an organisation on a day, as far as it is written. */
export async function readUsage(db: Connection, orgId: string, day: string): Promise<number> {
  const row = await db
    .selectFrom('org_usage_daily')
    .select('events')
    .where('org_id', '=', orgId)
    .where('day', '=', day)
    .executeTakeFirst()
  return row?.events ?? 0
}

export const USAGE_ROWS = ownRows('org_usage_daily')
