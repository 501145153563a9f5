import type { Range } from '../../../address/search.ts'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { formatDuration, formatShare } from '../../../ui/format.ts'
import { performanceTexts } from './texts.ts'

/** The finding of a chart of durations, computed from its points. Pure. */

export type DurationPoint = {
  readonly t: string
  readonly p95_ms: number | null
  readonly count: number
  readonly incomplete?: boolean | undefined
}

export type DurationFinding =
  | { kind: 'nothing' }
  | { kind: 'since'; release: string; before: number; after: number }
  | { kind: 'change'; value: number; growth: number }
  | { kind: 'level'; value: number }

/** Fewer values on either side of a release say nothing about a P95. */
const MIN_VALUES = 200
const MIN_BUCKETS = 3
/** A P95 moves by itself by a few percent. */
const MIN_STEP = 0.12

/** A step of the P95 with a release, else its change against the range before. */
export function durationFinding(
  points: readonly DurationPoint[],
  releases: readonly { readonly version: string; readonly at: string }[],
  now: number | null,
  before: number | null,
): DurationFinding {
  if (now === null) return { kind: 'nothing' }
  const whole = points.filter((point) => point.incomplete !== true && point.p95_ms !== null)
  // The newest release first: the one that can still be stopped.
  for (const { version, at } of releases.toSorted((a, b) => b.at.localeCompare(a.at))) {
    const earlier = levelOf(whole.filter((point) => Date.parse(point.t) < Date.parse(at)))
    const later = levelOf(whole.filter((point) => Date.parse(point.t) >= Date.parse(at)))
    if (earlier === null || later === null) continue
    if (Math.abs(later / earlier - 1) >= MIN_STEP)
      return { kind: 'since', release: version, before: earlier, after: later }
  }
  return before === null || before === 0
    ? { kind: 'level', value: now }
    : { kind: 'change', value: now, growth: now / before - 1 }
}

/** The median of the buckets' P95: one bucket with few values does not decide it. */
function levelOf(points: readonly DurationPoint[]): number | null {
  const values = points.map((point) => point.p95_ms ?? 0).toSorted((a, b) => a - b)
  const count = points.reduce((sum, point) => sum + point.count, 0)
  return points.length < MIN_BUCKETS || count < MIN_VALUES ? null : (values[Math.floor(values.length / 2)] ?? null)
}

export function durationSentence(finding: DurationFinding, range: Range): string {
  const before = performanceTexts.before[range]
  switch (finding.kind) {
    case 'nothing':
      return ''
    case 'since': {
      const text = finding.after > finding.before ? performanceTexts.slower : performanceTexts.faster
      return text(shortRelease(finding.release), formatDuration(finding.after), formatDuration(finding.before))
    }
    case 'change': {
      const value = formatDuration(finding.value)
      if (Math.round(finding.growth * 100) === 0) return performanceTexts.same(value, before)
      const text = finding.growth > 0 ? performanceTexts.up : performanceTexts.down
      return text(value, formatShare(Math.abs(finding.growth)), before)
    }
    default:
      return performanceTexts.level(formatDuration(finding.value))
  }
}
