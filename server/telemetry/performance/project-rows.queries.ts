import { sql } from 'kysely'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart, type ProjectPart } from '../../projects/registry/project-rows.ts'

/** Keys of segments name their series. The other keys are hashes that name nothing; they are dropped after three days. */
const KEYS: ProjectPart = {
  tables: ['performance_seen'],
  max: 2_000,
  async deleteRows(tx, projectId, max) {
    const { numAffectedRows } = await sql`
      delete from performance_seen where (key, received_day) in (
        select key, received_day from performance_seen
        where series_id in (select id from performance_series where project_id = ${projectId}) limit ${max})`.execute(
      tx,
    )
    return Number(numAffectedRows ?? 0)
  },
}

export const PERFORMANCE_PARTS = [
  // In the order in which measurements move between the tables, so that none escapes to one that was read before.
  projectPart(2_000, [
    ownRows('battery_levels'),
    ownRows('battery_hours'),
    ownRows('performance_pending'),
    ownRows('performance_deltas'),
    ownRows('performance_rollups'),
    ownRows('performance_days'),
  ]),
  KEYS,
  projectPart(2_000, [ownRows('performance_series')]),
]
