import { sql } from 'kysely'
import type { Connection } from '../storage/database.ts'

/** Error events of an organisation by bucket. Bucket 0 begins at `start`, earlier ones have negative numbers. */
export function selectVolume(
  on: Connection,
  orgId: string,
  projectIds: readonly string[] | undefined,
  range: { readonly from: number; readonly start: number; readonly end: number; readonly bucketMs: number },
) {
  let query = on
    .selectFrom('project_minutes as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .where('p.org_id', '=', orgId)
    .where('m.minute', '>=', new Date(range.from))
    .where('m.minute', '<', new Date(range.end))
  if (projectIds !== undefined) query = query.where('m.project_id', 'in', [...projectIds])
  const bucket = sql<number>`floor((extract(epoch from m.minute) * 1000 - ${range.start}::float8) / ${range.bucketMs}::float8)::int`
  return query
    .select([
      bucket.as('bucket'),
      (eb) => eb.fn.sum<number>('m.events').as('events'),
      (eb) => eb.fn.sum<number>('m.fatal').as('fatal'),
    ])
    .groupBy(sql`1`)
    .execute()
}
