import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'

export type HourRow = {
  readonly hour: Date
  readonly key_id: string
  readonly category: string
  readonly outcome: string
  readonly reason: string
  readonly quantity: number
}

/** Sums of a project by step of a time range. The number of rows does not depend on traffic: steps × keys × outcomes. */
export async function selectOutcomes(
  db: Connection,
  projectId: string,
  { from, to }: { readonly from: Date; readonly to: Date },
  stepHours: number,
): Promise<HourRow[]> {
  const step = sql<Date>`date_bin(make_interval(hours => ${stepHours}::int), hour, ${from}::timestamptz)`
  return (
    db
      .selectFrom('outcomes_hourly')
      .select([
        step.as('hour'),
        'key_id',
        'category',
        'outcome',
        'reason',
        sql<number>`sum(quantity)::bigint`.as('quantity'),
      ])
      .where('project_id', '=', projectId)
      .where('hour', '>=', from)
      .where('hour', '<', to)
      .groupBy([sql`1`, 'key_id', 'category', 'outcome', 'reason'])
      // Requests in quarantine that were digested later were taken back.
      .having(sql<boolean>`sum(quantity) <> 0`)
      .execute()
  )
}

export async function selectLosses(db: Connection, projectId: string, from: Date) {
  return db
    .selectFrom('client_losses_hourly')
    .select(['kind', 'reason', 'category', sql<number>`sum(quantity)::bigint`.as('quantity')])
    .where('project_id', '=', projectId)
    .where('hour', '>=', from)
    .groupBy(['kind', 'reason', 'category'])
    .orderBy('quantity', 'desc')
    .limit(200)
    .execute()
}

/** By hour, for all keys together, newest first. */
export async function selectFloodSampling(db: Connection, projectId: string, from: Date) {
  return db
    .selectFrom('flood_sampling_hourly')
    .select([
      'hour',
      sql<number>`sum(let_through)::bigint`.as('let_through'),
      sql<number>`sum(fingerprints)::bigint`.as('fingerprints'),
      sql<Date>`min(first_at)`.as('first_at'),
      sql<Date>`max(last_at)`.as('last_at'),
    ])
    .where('project_id', '=', projectId)
    .where('hour', '>=', from)
    .groupBy('hour')
    .orderBy('hour', 'desc')
    .execute()
}

export async function selectQuota(db: Connection, orgId: string): Promise<number | null> {
  const row = await db.selectFrom('orgs').select('events_per_day').where('id', '=', orgId).executeTakeFirst()
  return row?.events_per_day ?? null
}
