import { sql } from 'kysely'
import type { ReleaseFacts } from '../../projects/releases/order.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { union, type Scope } from './read.queries.ts'
import type { Grain } from './series.queries.ts'

const MAX_RELEASES = 50

/** The releases with the most values of the metrics, at least `min`, in no order. Reads no sketches. */
export async function measuredReleases(
  db: Connection,
  scope: Scope,
  grain: Grain,
  min: number,
): Promise<ReleaseFacts[]> {
  const rows = await db
    .with('measured', () =>
      union(db, scope, grain, [{ ...scope, intervalMs: null }])
        .select(['release', sql<number>`sum(count)`.as('n')])
        .where('release', '!=', '')
        .groupBy('release')
        .having(sql<number>`sum(count)`, '>=', min)
        .orderBy('n', 'desc')
        .limit(MAX_RELEASES),
    )
    .selectFrom('measured')
    .innerJoin('releases as r', (join) => join.onRef('r.version', '=', 'measured.release'))
    .where(sql<boolean>`r.project_id = any(${[...scope.projectIds]}::uuid[])`)
    .select(['r.version', 'r.released_at', 'r.created_at', 'r.first_seen_at'])
    .execute()
  return rows.map((row) => ({
    version: row.version,
    releasedAt: row.released_at,
    createdAt: row.created_at,
    firstSeenAt: row.first_seen_at,
  }))
}
