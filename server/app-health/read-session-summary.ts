import type { RawBuilder } from 'kysely'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import type { Connection } from '../storage/database.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { type Place, rollupsOf, sketchesAfter, sumRollups } from './summary.queries.ts'
import { startOf } from './rollup.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Length and bucket size of the ranges, the same for every chart. */
const RANGES = {
  '1h': { lengthMs: DAY_MS / 24, stepMs: MINUTE_MS },
  '24h': { lengthMs: DAY_MS, stepMs: 15 * MINUTE_MS },
  '7d': { lengthMs: 7 * DAY_MS, stepMs: 60 * MINUTE_MS },
  '30d': { lengthMs: 30 * DAY_MS, stepMs: 6 * 60 * MINUTE_MS },
} as const

type Summary = { total: number; crash_free_sessions: number | null; crashed_users: number | null }

/** Crash-free sessions and users affected by a crash, of a range and of the previous one. */
export async function readSessionSummary(
  app: App,
  actor: OrgActor,
  range: keyof typeof RANGES,
  projectIds: readonly string[] | undefined,
): Promise<Summary & { range: string; previous: Summary }> {
  const { lengthMs, stepMs } = RANGES[range]
  // The newest bucket is incomplete and ends in the future.
  const end = startOf(app.clock.now().getTime(), stepMs) + stepMs
  const [now, previous] = await Promise.all([
    summarise(app.db, actor.orgId, projectIds, end - lengthMs, end),
    summarise(app.db, actor.orgId, projectIds, end - 2 * lengthMs, end - lengthMs),
  ])
  return { range, ...now, previous }
}

/** Sketches of one summary. Each has 2.5 kB and takes some microseconds. */
const MAX_SKETCHES = 6_000
/** Sketches read and merged without a pause. */
const MAX_SKETCHES_PER_PAGE = 500

async function summarise(
  db: Connection,
  orgId: string,
  projectIds: readonly string[] | undefined,
  from: number,
  to: number,
): Promise<Summary> {
  const rollups = rollupsOf(orgId, projectIds, from, to)
  const { total, crashed, named, sketches } = await sumRollups(db, rollups)
  // With more sketches the number is unknown, because counting would take too long.
  const isKnown = named === true && sketches <= MAX_SKETCHES
  return {
    total,
    crash_free_sessions: total <= 0 ? null : 1 - crashed / total,
    crashed_users: isKnown ? await countCrashedUsers(db, rollups) : null,
  }
}

async function countCrashedUsers(db: Connection, rollups: RawBuilder<unknown>): Promise<number> {
  const users = new HyperLogLog()
  let last: Place | undefined
  do {
    const page = await sketchesAfter(db, rollups, last, MAX_SKETCHES_PER_PAGE)
    for (const row of page) users.mergeBytes(row.crashed_users)
    last = page[MAX_SKETCHES_PER_PAGE - 1]
  } while (last !== undefined)
  return users.count()
}
