import { sql } from 'kysely'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart, type ProjectPart } from '../../projects/registry/project-rows.ts'
import type { AgingRows } from '../../platform/jobs/purge.ts'
import { MAX_GAP_MS } from './battery-drain.ts'
import { LONG } from './steps.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

const LEVELS = ownRows('battery_levels')
const HOURS = ownRows('battery_hours')
const ROLLUPS = ownRows('performance_rollups')
const DAYS = ownRows('performance_days')
const SERIES = ownRows('performance_series')

const ROLLUP_RETENTION_DAYS = 400
/** Measurements are at most this much older than their day of receipt. */
const MAX_LATE_DAYS = 31
/** A dry run of an alert rule looks back seven days, each moment over a window of up to seven. */
const BATTERY_HOUR_DAYS = 15

/** Rollups of long buckets; shorter ones do not live as long. Then series without rollups, and battery levels. */
export const AGING_PERFORMANCE: readonly AgingRows[] = [
  ...LONG.map((step) => ({
    rows: ROLLUPS,
    column: 'bucket',
    kept: { ms: ROLLUP_RETENTION_DAYS * DAY_MS },
    equal: { step },
  })),
  { rows: SERIES, column: 'last_day', kept: { days: ROLLUP_RETENTION_DAYS + MAX_LATE_DAYS } },
  { rows: DAYS, column: 'day', kept: { days: 1 } },
  { rows: LEVELS, column: 'seen_at', kept: { ms: MAX_GAP_MS } },
  { rows: HOURS, column: 'hour', kept: { ms: BATTERY_HOUR_DAYS * DAY_MS } },
]

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
  projectPart(2_000, [LEVELS, HOURS, ownRows('performance_pending'), ownRows('performance_deltas'), ROLLUPS, DAYS]),
  KEYS,
  projectPart(2_000, [SERIES]),
]
