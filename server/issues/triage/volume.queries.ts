import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'

/** Error events of an organisation by bucket. Bucket 0 begins at `from`, and the last one ends at `to`; -1 is all before. */
export function selectVolume(
  on: Connection,
  orgId: string,
  projectIds: readonly string[] | undefined,
  {
    previousFrom,
    from,
    to,
    bucketMs,
    buckets,
  }: {
    readonly previousFrom: number
    readonly from: number
    readonly to: number
    readonly bucketMs: number
    readonly buckets: number
  },
) {
  let query = on
    .selectFrom('project_minutes as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .where('p.org_id', '=', orgId)
    .where('m.minute', '>=', new Date(previousFrom))
    .where('m.minute', '<', new Date(to))
  if (projectIds !== undefined) query = query.where('m.project_id', 'in', [...projectIds])
  const number = sql`floor((extract(epoch from m.minute) * 1000 - ${from}::float8) / ${bucketMs}::float8)`
  const bucket = sql<number>`greatest(-1, least(${number}, ${buckets - 1}::int))::int`
  return query
    .select([
      bucket.as('bucket'),
      (eb) => eb.fn.sum<number>('m.events').as('events'),
      (eb) => eb.fn.sum<number>('m.fatal').as('fatal'),
    ])
    .groupBy(sql`1`)
    .execute()
}
