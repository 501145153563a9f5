import type { Issue } from '../../../server/issue-rules/issue.api.ts'
import type { SparkTone } from '../../ui/chart/sparkline.tsx'

/** The colour of a trend, and the bucket where the colour starts. Pure. */

export type Trend = Issue['trend']

const DAY_MS = 24 * 60 * 60_000

/** Whether an issue was first seen less than a day ago and is unresolved. */
export const isNew = (issue: Pick<Issue, 'first_seen' | 'status'>, now: number): boolean =>
  issue.status === 'unresolved' && now - Date.parse(issue.first_seen) < DAY_MS

export function toneOf(issue: Pick<Issue, 'first_seen' | 'status'>, now: number): SparkTone {
  if (issue.status === 'regressed' || issue.status === 'escalated') return issue.status
  return isNew(issue, now) ? 'new' : 'plain'
}

/** The first bucket of the present level; null if the counts show no change of level. */
export function levelStartOf(issue: Pick<Issue, 'first_seen' | 'status' | 'trend'>, now: number): number | null {
  const tone = toneOf(issue, now)
  const { counts } = issue.trend
  const first = counts.findIndex((count) => count > 0)
  if (tone === 'plain' || first < 0) return null
  if (tone === 'new') return first
  // Buckets before the first event do not show a fix.
  const startsInTrend = Date.parse(issue.first_seen) >= Date.parse(issue.trend.start)
  return tone === 'regressed' ? afterSilence(counts, startsInTrend ? first : -1) : afterStep(counts)
}

/** The time of the last automatic change, in buckets of the trend with a fraction; null if it was before the trend. */
export function moveInTrend(movedAt: string | null, { start, interval_seconds, counts }: Trend): number | null {
  if (movedAt === null) return null
  const at = (Date.parse(movedAt) - Date.parse(start)) / 1000 / interval_seconds
  return at >= 0 && at < counts.length ? at : null
}

/** Fewer empty buckets are a quiet time, not a fix. */
const SILENCE_BUCKETS = 3

/** The bucket after the longest run without events; a run that ends at `never` does not count. */
function afterSilence(counts: readonly number[], never: number): number | null {
  let best = { length: 0, end: -1 }
  let length = 0
  for (const [index, count] of counts.entries()) {
    if (count === 0) {
      length += 1
      continue
    }
    if (length >= best.length && length > 0 && index !== never) best = { length, end: index }
    length = 0
  }
  return best.length >= SILENCE_BUCKETS ? best.end : null
}

/** The bucket at which the mean count at least doubles; null if there is none. */
function afterStep(counts: readonly number[]): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  let best: { at: number; gain: number } | null = null
  let before = 0
  for (let at = 1; at < counts.length; at++) {
    before += counts[at - 1] ?? 0
    const meanBefore = before / at
    const meanAfter = (total - before) / (counts.length - at)
    if (meanAfter < 2 * meanBefore || (counts[at] ?? 0) === 0) continue
    const gain = (meanAfter - meanBefore) * Math.sqrt(counts.length - at)
    if (best === null || gain > best.gain) best = { at, gain }
  }
  return best?.at ?? null
}

/** The factor between the mean counts after and before the step of an escalated issue; null if there is no step. */
export function stepFactor(issue: Pick<Issue, 'first_seen' | 'status' | 'trend'>, now: number): number | null {
  if (issue.status !== 'escalated') return null
  const at = levelStartOf(issue, now)
  const { counts } = issue.trend
  if (at === null || at === 0) return null
  const mean = (some: readonly number[]) => some.reduce((sum, count) => sum + count, 0) / some.length
  const before = mean(counts.slice(0, at))
  // The newest bucket is incomplete and is left out, unless it is the only one.
  const since = counts.slice(at, at + 1 < counts.length ? -1 : undefined)
  return before === 0 ? null : mean(since) / before
}

export const peakOf = ({ counts }: Pick<Trend, 'counts'>): number => Math.max(0, ...counts)
export const sumOf = ({ counts }: Pick<Trend, 'counts'>): number => counts.reduce((sum, count) => sum + count, 0)

/** Longer versions would cover a chart or a row. */
const MAX_VERSION = 24

/** `shopper@4.12.1+41200` → `4.12.1`, the short form of a release name. */
export function versionOf(release: string): string {
  const version = release.slice(release.lastIndexOf('@') + 1).split('+')[0] ?? ''
  const shown = version === '' ? release : version
  return shown.length > MAX_VERSION ? `${shown.slice(0, MAX_VERSION - 1)}…` : shown
}
