import { selectVolume } from './volume.queries.ts'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'

const MINUTE_MS = 60_000

/** Length and bucket of the ranges of all time charts. */
const RANGES = {
  '1h': { minutes: 60, bucketMinutes: 1 },
  '24h': { minutes: 24 * 60, bucketMinutes: 15 },
  '7d': { minutes: 7 * 24 * 60, bucketMinutes: 60 },
  '30d': { minutes: 30 * 24 * 60, bucketMinutes: 6 * 60 },
} as const

export type Range = keyof typeof RANGES

/** Error events over a range in equal buckets, including empty ones, and the total of the range before. */
export async function readVolume(app: App, actor: OrgActor, range: Range, projectIds: readonly string[] | undefined) {
  const { minutes, bucketMinutes } = RANGES[range]
  const bucketMs = bucketMinutes * MINUTE_MS
  // The newest bucket is incomplete: it ends in the future.
  const end = (Math.floor(app.clock.now().getTime() / bucketMs) + 1) * bucketMs
  const start = end - minutes * MINUTE_MS
  const rows = await selectVolume(app.db, actor.orgId, projectIds, {
    from: start - minutes * MINUTE_MS,
    start,
    end,
    bucketMs,
  })
  const byBucket = new Map(rows.map((row) => [row.bucket, row]))
  const points = Array.from({ length: minutes / bucketMinutes }, (_, index) => ({
    t: new Date(start + index * bucketMs).toISOString(),
    events: byBucket.get(index)?.events ?? 0,
    fatal: byBucket.get(index)?.fatal ?? 0,
  }))
  const sum = (of: readonly { events: number }[]) => of.reduce((total, one) => total + one.events, 0)
  return {
    range,
    interval_seconds: bucketMs / 1000,
    points,
    total: sum(points),
    previous_total: sum(rows.filter((row) => row.bucket < 0)),
  }
}
