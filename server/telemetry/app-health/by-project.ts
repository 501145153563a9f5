import type { Connection } from '../../platform/storage/database.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { bucketSpans } from './buckets.ts'
import { type ActivityRow, readActivityRows } from './by-project.queries.ts'

/** Sessions and active users of a project in an interval. */
export type Activity = {
  sessions: number
  /** Sessions with a hang in the foreground. */
  anrs: number
  readonly users: HyperLogLog
  readonly anrUsers: HyperLogLog
}

type ActivityQuery = {
  readonly projectIds: readonly string[]
  readonly from: Date
  /** Excluded. */
  readonly to: Date
  readonly now: Date
}

const noActivity = (): Activity => ({ sessions: 0, anrs: 0, users: new HyperLogLog(), anrUsers: new HyperLogLog() })

/** Adds one activity to another. */
function addActivity(sum: Activity, one: Activity): Activity {
  sum.sessions += one.sessions
  sum.anrs += one.anrs
  sum.users.merge(one.users)
  sum.anrUsers.merge(one.anrUsers)
  return sum
}

export const sumOfActivities = (all: readonly Activity[]): Activity => all.reduce(addActivity, noActivity())

/** Activity of many projects, each for itself, in one statement. Projects without any are left out. */
export async function readActivities(db: Connection, query: ActivityQuery): Promise<Map<string, Activity>> {
  const spans = bucketSpans(query.from.getTime(), query.to.getTime(), query.now.getTime())
  const all = new Map<string, Activity>()
  if (spans.length === 0 || query.projectIds.length === 0) return all
  for (const row of await readActivityRows(db, query.projectIds, spans, null)) all.set(row.projectId, activityOf(row))
  return all
}

/** The same of one project in intervals of 15 minutes or an hour, by their number after `from`; without empty ones. */
export async function readActivitySeries(
  db: Connection,
  projectId: string,
  { from, to }: Pick<ActivityQuery, 'from' | 'to'>,
  bucketSeconds: 900 | 3_600,
): Promise<Map<number, Activity>> {
  const span = { bucketSeconds, from: from.getTime(), to: to.getTime() }
  const rows = await readActivityRows(db, [projectId], [span], bucketSeconds)
  return new Map(rows.map((row) => [row.slot, activityOf(row)]))
}

const activityOf = ({ sessions, anrs, users, anrUsers }: ActivityRow): Activity => ({
  sessions,
  anrs,
  users: merged(users),
  anrUsers: merged(anrUsers),
})

/** Merges concatenated sketches, each preceded by its length. */
function merged(sketches: Buffer | null): HyperLogLog {
  const sum = new HyperLogLog()
  for (let at = 0; sketches !== null && at < sketches.length;) {
    const start = at + 4
    at = start + sketches.readInt32BE(at)
    sum.mergeBytes(sketches.subarray(start, at))
  }
  return sum
}
