import type { Connection } from '../../../platform/storage/database.ts'
import type { KnownValues } from './known-values.ts'

const MAX_VALUES = 1_000

/** Values that questions about a project may name: at most 1,000 of each dimension, those used last. */
export async function readKnownValues(db: Connection, projectId: string): Promise<KnownValues> {
  const { rows } = await db.query<{ dimension: string; value: string }>({
    name: 'assistant-known-values',
    text: `(select 'release' as dimension, version as value from releases
              where project_id = $1 order by state = 'planned', dated_at desc limit $2)
           union all
           (select case level when 2 then 'environment' when 3 then 'os' else 'device' end,
                   case level when 2 then environment when 3 then os else device end
              from (select *, row_number() over (partition by level order by last_used_day desc) as place
                    from health_attributes where project_id = $1 and level in (2, 3, 4)) a where place <= $2)
           union all
           (select distinct 'platform', platform from (select platform from issues where project_id = $1 limit 20000) p)
           union all
           (select 'exception_type', error_type from (select error_type, max(last_seen) as seen from
              (select error_type, last_seen from issues where project_id = $1 and merged_into is null
               order by seen_slot desc limit 20000) i
              where error_type is not null group by 1 order by seen desc limit $2) t)
           union all
           (select distinct case when op like 'ui.load%' then 'screen' else 'transaction' end, name
              from (select name, op from performance_series where project_id = $1 and grain = 1 order by last_day desc limit $2) s)`,
    values: [projectId, MAX_VALUES],
  })
  const of = (dimension: keyof KnownValues): string[] =>
    rows.flatMap((row) => (row.dimension === dimension && row.value !== null && row.value !== '' ? [row.value] : []))
  return {
    release: of('release'),
    environment: of('environment'),
    os: of('os'),
    device: of('device'),
    platform: of('platform'),
    exception_type: of('exception_type'),
    screen: of('screen'),
    transaction: of('transaction'),
  }
}
