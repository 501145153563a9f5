import type { Issue } from '../../../server/issues/rules/issue.api.ts'
import type { SparkTone } from '../../ui/chart/sparkline.tsx'
import { DAY_MS } from '../../ui/format.ts'

/** The colour of a trend, and the bucket where the colour starts. Pure. */

export type Trend = Issue['trend']

/** Whether an issue was first seen less than a day ago and is unresolved. */
export const isNew = (issue: Pick<Issue, 'first_seen' | 'status'>, now: number): boolean =>
  issue.status === 'unresolved' && now - Date.parse(issue.first_seen) < DAY_MS

export function trendTone(issue: Pick<Issue, 'first_seen' | 'status'>, now: number): SparkTone {
  if (issue.status === 'regressed' || issue.status === 'escalated') return issue.status
  return isNew(issue, now) ? 'new' : 'plain'
}

type Moved = Pick<Issue, 'first_seen' | 'status' | 'status_changed_at' | 'trend'>

/**
 * The first bucket of the present level: the bucket of the stored change of status; 0 when the status changed before the
 * trend, so that all of it is at the present level. For a new issue, the first bucket with an event. Null without a change.
 */
export function findLevelStart(issue: Moved, now: number): number | null {
  const tone = trendTone(issue, now)
  const { start, counts } = issue.trend
  if (tone === 'plain') return null
  if (tone === 'new') {
    const first = counts.findIndex((count) => count > 0)
    return first < 0 ? null : first
  }
  if (Date.parse(issue.status_changed_at) < Date.parse(start)) return 0
  const move = moveInTrend(issue.status_changed_at, issue.trend)
  return move === null ? null : Math.floor(move)
}

/** The time of a change, in buckets of the trend with a fraction; null if it is outside the trend. */
export function moveInTrend(movedAt: string, { start, interval_seconds, counts }: Trend): number | null {
  const at = (Date.parse(movedAt) - Date.parse(start)) / 1000 / interval_seconds
  return at >= 0 && at < counts.length ? at : null
}

/** A smaller factor is no step that shows in the trend. */
const MIN_FACTOR = 1.5

/** The factor between the mean counts after and before an issue escalated; null if the trend shows no step. */
export function stepFactor(issue: Moved, now: number): number | null {
  if (issue.status !== 'escalated') return null
  const at = findLevelStart(issue, now)
  const { counts } = issue.trend
  if (at === null || at === 0) return null
  const mean = (some: readonly number[]) => some.reduce((sum, count) => sum + count, 0) / some.length
  const before = mean(counts.slice(0, at))
  // The newest bucket is incomplete and is left out, unless it is the only one.
  const since = counts.slice(at, at + 1 < counts.length ? -1 : undefined)
  const factor = before === 0 ? 0 : mean(since) / before
  return factor < MIN_FACTOR ? null : factor
}

export const trendPeak = ({ counts }: Pick<Trend, 'counts'>): number => Math.max(0, ...counts)
export const trendSum = ({ counts }: Pick<Trend, 'counts'>): number => counts.reduce((sum, count) => sum + count, 0)

/** Longer versions would cover a chart or a row. */
const MAX_VERSION = 24

/** `shopper@4.12.1+41200` → `4.12.1`, the short form of a release name. */
export function shortVersion(release: string): string {
  const version = release.slice(release.lastIndexOf('@') + 1).split('+')[0] ?? ''
  const named = version === '' ? release : version
  // The registry and the folders of an image's name say less than its tag.
  const shown = named.length > MAX_VERSION ? named.slice(named.lastIndexOf('/') + 1) || named : named
  return shown.length > MAX_VERSION ? `${shown.slice(0, MAX_VERSION - 1)}…` : shown
}
