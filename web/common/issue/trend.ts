import type { Issue } from '../../../server/issue-rules/issue.api.ts'
import type { SparkTone } from '../../ui/chart/sparkline.tsx'

/** What colours a trend, and from which bucket on. Pure. */

export type Trend = Issue['trend']

const DAY_MS = 24 * 60 * 60_000

/** Seen for the first time within a day, and nobody has decided anything about it yet. */
export const isNew = (issue: Pick<Issue, 'first_seen' | 'status'>, now: number): boolean =>
  issue.status === 'unresolved' && now - Date.parse(issue.first_seen) < DAY_MS

export function toneOf(issue: Pick<Issue, 'first_seen' | 'status'>, now: number): SparkTone {
  if (issue.status === 'regressed' || issue.status === 'escalated') return issue.status
  return isNew(issue, now) ? 'new' : 'plain'
}

/** First bucket of the present level; null where the counts do not show one. */
export function levelStartOf(issue: Pick<Issue, 'first_seen' | 'status' | 'trend'>, now: number): number | null {
  const tone = toneOf(issue, now)
  const { counts } = issue.trend
  const first = counts.findIndex((count) => count > 0)
  if (tone === 'plain' || first < 0) return null
  if (tone === 'new') return first
  // Silence before the very first event is no sign of a fix.
  const bornHere = Date.parse(issue.first_seen) >= Date.parse(issue.trend.start)
  return tone === 'regressed' ? afterSilence(counts, bornHere ? first : -1) : afterStep(counts)
}

/** When the issue last moved by itself, in buckets of the trend, with fraction; null when that was before it. */
export function moveInTrend(movedAt: string | null, { start, interval_seconds, counts }: Trend): number | null {
  if (movedAt === null) return null
  const at = (Date.parse(movedAt) - Date.parse(start)) / 1000 / interval_seconds
  return at >= 0 && at < counts.length ? at : null
}

/** Silence shorter than this is a quiet hour, not the time when it was fixed. */
const SILENCE_BUCKETS = 3

/** The bucket that ends the longest run without events; one that ends at `never` does not count. */
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

/** The bucket before which there was clearly less than from it on. */
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

/** How many times as much an escalated issue happens since the step; null where the counts do not show it. */
export function stepFactor(issue: Pick<Issue, 'first_seen' | 'status' | 'trend'>, now: number): number | null {
  if (issue.status !== 'escalated') return null
  const at = levelStartOf(issue, now)
  const { counts } = issue.trend
  if (at === null || at === 0) return null
  const mean = (some: readonly number[]) => some.reduce((sum, count) => sum + count, 0) / some.length
  const before = mean(counts.slice(0, at))
  // The newest bucket still counts: alone it says too little, beside others too little of itself.
  const since = counts.slice(at, at + 1 < counts.length ? -1 : undefined)
  return before === 0 ? null : mean(since) / before
}

export const peakOf = ({ counts }: Pick<Trend, 'counts'>): number => Math.max(0, ...counts)
export const sumOf = ({ counts }: Pick<Trend, 'counts'>): number => counts.reduce((sum, count) => sum + count, 0)

/** Longer ones would cover a chart or a row. */
const LONGEST_VERSION = 24

/** `shopper@4.12.1+41200` → `4.12.1`: what fits a flag; the whole name stands in its title. */
export function versionOf(release: string): string {
  const version = release.slice(release.lastIndexOf('@') + 1).split('+')[0] ?? ''
  const shown = version === '' ? release : version
  return shown.length > LONGEST_VERSION ? `${shown.slice(0, LONGEST_VERSION - 1)}…` : shown
}
