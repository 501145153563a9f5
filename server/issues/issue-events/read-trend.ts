import { selectHours } from './sources.queries.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** Lengths and buckets of the ranges of the issue page; counts are stored by hour. */
const RANGES = {
  '24h': { hours: 24, bucketHours: 1 },
  '7d': { hours: 7 * 24, bucketHours: 2 },
  '14d': { hours: 14 * 24, bucketHours: 4 },
  '30d': { hours: 30 * 24, bucketHours: 8 },
  '90d': { hours: 90 * 24, bucketHours: 24 },
} as const

export type TrendRange = keyof typeof RANGES

/**
 * Events of an issue over time in equal buckets, the newest of which is incomplete.
 * @throws AppError not_found
 */
export async function readTrend(app: App, actor: OrgActor, issueId: string, range: TrendRange) {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  const { hours, bucketHours } = RANGES[range]
  const bucketMs = bucketHours * HOUR_MS
  const end = (Math.floor(app.clock.now().getTime() / bucketMs) + 1) * bucketMs
  const start = end - hours * HOUR_MS
  const rows = await selectHours(app.db, issue.id, new Date(start), new Date(end))
  const counts = Array.from({ length: hours / bucketHours }, () => 0)
  for (const { hour, events } of rows) {
    const bucket = Math.floor((hour.getTime() - start) / bucketMs)
    counts[bucket] = (counts[bucket] ?? 0) + events
  }
  return {
    range,
    interval_seconds: bucketMs / 1000,
    start: new Date(start).toISOString(),
    counts,
    total: counts.reduce((sum, count) => sum + count, 0),
  }
}
