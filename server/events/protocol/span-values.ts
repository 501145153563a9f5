import { isRecord } from './json.ts'
import { unwrapAttribute, finite, numberAttribute, textAttribute, type Span } from './span.ts'

/** Measured values of apps, screens and pages, and their sources in SDKs (docs/protocol.md §10.3). */

/** Stored by position: add only at the end. */
export const METRICS = [
  'duration',
  'app_start_cold',
  'app_start_warm',
  'ttid',
  'ttfd',
  'frames_total',
  'frames_slow',
  'frames_frozen',
  'frames_delay',
  'stall_count',
  'stall_total_time',
  'stall_longest_time',
  'lcp',
  'fcp',
  'fp',
  'ttfb',
  'ttfb_request_time',
  'cls',
  'inp',
  // Metrics of devices (device-signals.ts, anr.ts). Each ANR and warning is a value of 1.
  'anr',
  'anr_wait',
  'battery_drain',
  'low_memory',
  'thermal_serious',
  'thermal_critical',
  'wake_lock',
  /** The durations of segments that report stalls. */
  'stall_duration',
] as const
/** Times are in milliseconds, the rest are counts; `cls` is a score, `battery_drain` percent per hour. */
export type Metric = (typeof METRICS)[number]

/**
 * Values that a segment has once, although several spans may send them: an app start is cold or warm. Null: every span
 * has its own.
 */
export type Slot = 'app_start' | 'ttid' | 'ttfd' | 'lcp' | 'cls' | null

/** Source of a value; lower ones are preferred (docs/protocol.md §10.3). */
const MEASUREMENT = 1
const ATTRIBUTE = 2
const SPAN = 3

export type Candidate = {
  readonly metric: Metric
  readonly slot: Slot
  readonly rank: number
  readonly value: number
  /** Why the value does not count; null when it does. */
  readonly leftOut: LeftOut | null
}

/** Why a value is left out: longer than possible, of a process that the system started ahead of time, not positive. */
export const LEFT_OUT = ['too_long', 'prewarmed', 'invalid'] as const
export type LeftOut = (typeof LEFT_OUT)[number]

type Source = {
  readonly metric: Metric
  readonly slot?: Exclude<Slot, null>
  readonly measurement: string
  readonly attributes: readonly string[]
  /** Spans whose duration is the value. */
  readonly ops?: readonly string[]
  /** Unit of a plain number; also the factor of attributes. */
  readonly unit: 'ms' | 's' | 'count'
  readonly max?: number
}

/** Longer starts and screens belong to a process that started in the background. */
const MAX_START_MS = 180_000
/** Larger values are no measurements; this also keeps sums finite. */
const MAX_VALUE = 1e12

/** Values of one load of a page or screen, which child spans may send. */
const OF_A_LOAD: readonly Source[] = [
  {
    metric: 'app_start_cold',
    slot: 'app_start',
    measurement: 'app_start_cold',
    attributes: ['app.vitals.start.cold.value'],
    ops: ['app.start.cold', 'app_start_cold'],
    unit: 'ms',
    max: MAX_START_MS,
  },
  {
    metric: 'app_start_warm',
    slot: 'app_start',
    measurement: 'app_start_warm',
    attributes: ['app.vitals.start.warm.value'],
    ops: ['app.start.warm', 'app_start_warm'],
    unit: 'ms',
    max: MAX_START_MS,
  },
  {
    metric: 'ttid',
    slot: 'ttid',
    measurement: 'time_to_initial_display',
    attributes: ['app.vitals.ttid.value'],
    ops: ['ui.load.initial_display'],
    unit: 'ms',
    max: MAX_START_MS,
  },
  {
    metric: 'ttfd',
    slot: 'ttfd',
    measurement: 'time_to_full_display',
    attributes: ['app.vitals.ttfd.value'],
    ops: ['ui.load.full_display'],
    unit: 'ms',
    max: MAX_START_MS,
  },
  { metric: 'lcp', slot: 'lcp', measurement: 'lcp', attributes: ['browser.web_vital.lcp.value'], unit: 'ms' },
  { metric: 'cls', slot: 'cls', measurement: 'cls', attributes: ['browser.web_vital.cls.value'], unit: 'count' },
  { metric: 'inp', measurement: 'inp', attributes: ['browser.web_vital.inp.value'], unit: 'ms' },
]

/** Values that are read only from the segment; React Native repeats frames on every child. */
const OF_A_SEGMENT: readonly Source[] = [
  {
    metric: 'frames_total',
    measurement: 'frames_total',
    attributes: ['frames.total', 'frames_total', 'app.vitals.frames.total.count'],
    unit: 'count',
  },
  {
    metric: 'frames_slow',
    measurement: 'frames_slow',
    attributes: ['frames.slow', 'frames_slow', 'app.vitals.frames.slow.count'],
    unit: 'count',
  },
  {
    metric: 'frames_frozen',
    measurement: 'frames_frozen',
    attributes: ['frames.frozen', 'frames_frozen', 'app.vitals.frames.frozen.count'],
    unit: 'count',
  },
  {
    metric: 'frames_delay',
    measurement: 'frames_delay',
    attributes: ['frames.delay', 'frames_delay', 'app.vitals.frames.delay.value'],
    unit: 's',
  },
  { metric: 'stall_count', measurement: 'stall_count', attributes: ['stall_count'], unit: 'count' },
  { metric: 'stall_total_time', measurement: 'stall_total_time', attributes: ['stall_total_time'], unit: 'ms' },
  { metric: 'stall_longest_time', measurement: 'stall_longest_time', attributes: ['stall_longest_time'], unit: 'ms' },
  { metric: 'fcp', measurement: 'fcp', attributes: ['browser.web_vital.fcp.value'], unit: 'ms' },
  { metric: 'fp', measurement: 'fp', attributes: ['browser.web_vital.fp.value'], unit: 'ms' },
  { metric: 'ttfb', measurement: 'ttfb', attributes: ['browser.web_vital.ttfb.value'], unit: 'ms' },
  {
    metric: 'ttfb_request_time',
    measurement: 'ttfb.requestTime',
    attributes: ['browser.web_vital.ttfb.request_time'],
    unit: 'ms',
  },
  { metric: 'wake_lock', measurement: 'wake_lock_time', attributes: ['wake_lock.time'], unit: 'ms' },
]
const ALL = [...OF_A_LOAD, ...OF_A_SEGMENT]

/** Zero means not measured, except for these sums and offsets. */
const MAY_BE_ZERO = new Set<Metric>([
  'duration',
  'battery_drain',
  'frames_delay',
  'stall_total_time',
  'stall_longest_time',
])

/** All values of a segment. */
export const segmentValues = (segment: Span): Candidate[] => valuesOf(segment, ALL)

/** Values of a segment in a child span; most children have none. */
export const childValues = (child: Span): Candidate[] => valuesOf(child, OF_A_LOAD)

/** The duration of a span. */
export const spanDuration = (span: Span): Candidate =>
  candidate('duration', null, MEASUREMENT, span.endMs - span.startMs)

/** Picks one candidate per slot of a segment: by rank; of nested spans the outermost. */
export function pickValues(candidates: readonly Candidate[]): Candidate[] {
  const best = new Map<string, Candidate>()
  for (const one of candidates) {
    const key = one.slot ?? one.metric
    const known = best.get(key)
    if (known === undefined || isBetter(one, known)) best.set(key, one)
  }
  return [...best.values()]
}

/** Compares candidates, also of different envelopes. */
export const isBetter = (one: Pick<Candidate, 'rank' | 'value'>, than: Pick<Candidate, 'rank' | 'value'>): boolean =>
  one.rank < than.rank || (one.rank === than.rank && one.rank === SPAN && one.value > than.value)

/** Whether a standalone span has a web vital: it is flagged as segment, but is no page load or request. */
export function isWebVital(span: Span): boolean {
  const op = textAttribute(span.attributes, 'sentry.op') ?? ''
  if (op.startsWith('ui.webvital.')) return true
  return op.startsWith('ui.interaction.') && childValues(span).some(({ metric }) => metric === 'inp')
}

function valuesOf(span: Span, sources: readonly Source[]): Candidate[] {
  const op = textAttribute(span.attributes, 'sentry.op') ?? ''
  const found: Candidate[] = []
  for (const source of sources) {
    const value = valueOf(span, source, op)
    if (value === null) continue
    const isPrewarmed = source.slot === 'app_start' && wasPrewarmed(span)
    found.push(candidate(source.metric, source, value.rank, value.value, isPrewarmed))
  }
  return found
}

function candidate(
  metric: Metric,
  source: Pick<Source, 'slot' | 'max' | 'unit'> | null,
  rank: number,
  value: number,
  isPrewarmed = false,
): Candidate {
  const mayBeZero = source?.unit === 'count' || MAY_BE_ZERO.has(metric)
  const isPositive = value > 0 || (mayBeZero && value === 0)
  const isTooLong = value > (source?.max ?? MAX_VALUE)
  const leftOut = isPrewarmed ? 'prewarmed' : !isPositive ? 'invalid' : isTooLong ? 'too_long' : null
  return { metric, slot: source?.slot ?? null, rank, value, leftOut }
}

function valueOf(span: Span, source: Source, op: string): { rank: number; value: number } | null {
  const measured = measurement(span.measurements[source.measurement], source.unit)
  if (measured !== null) return { rank: MEASUREMENT, value: measured }
  const attribute = attributeValue(span, source, op)
  if (attribute !== null) return { rank: ATTRIBUTE, value: source.unit === 's' ? attribute * 1_000 : attribute }
  const isItself =
    source.ops?.includes(op) === true || (source.slot === 'app_start' && isStart(span, source.metric, op))
  return isItself ? { rank: SPAN, value: span.endMs - span.startMs } : null
}

function attributeValue({ attributes }: Span, source: Source, op: string): number | null {
  for (const name of source.attributes) {
    const value = numberAttribute(attributes, name)
    if (value !== null) return value
  }
  if (source.slot !== 'app_start' || startType(attributes, op) !== source.metric) return null
  return numberAttribute(attributes, 'app.vitals.start.value')
}

/** `app.vitals.start.type` is `cold` or `warm`; in transactions `contexts.app.start_type` may end in `.prewarmed`. */
function startType(attributes: Span['attributes'], op: string): Metric | null {
  const type = textAttribute(attributes, 'app.vitals.start.type') ?? op
  return /(?:^|[._])cold/.test(type) ? 'app_start_cold' : /(?:^|[._])warm/.test(type) ? 'app_start_warm' : null
}

const isStart = (span: Span, metric: Metric, op: string): boolean =>
  op === 'app.start' && startType(span.attributes, op) === metric

/** The system may start an app ahead of time; then the user did not wait for its start. */
function wasPrewarmed({ attributes }: Span): boolean {
  const flag = unwrapAttribute(attributes, 'app.vitals.start.prewarmed')
  return (
    flag === true ||
    flag === 'true' ||
    textAttribute(attributes, 'app.vitals.start.type')?.endsWith('.prewarmed') === true
  )
}

const IN_MS = new Map([
  ['nanosecond', 1e-6],
  ['microsecond', 1e-3],
  ['millisecond', 1],
  ['second', 1_000],
  ['minute', 60_000],
  ['hour', 3_600_000],
])

/** A measurement in our unit; without a unit of time, the name determines the unit. */
function measurement(raw: unknown, unit: Source['unit']): number | null {
  if (!isRecord(raw)) return null
  const value = finite(raw['value'])
  if (value === null || unit === 'count') return value
  const stated = typeof raw['unit'] === 'string' ? IN_MS.get(raw['unit']) : undefined
  return value * (stated ?? (unit === 's' ? 1_000 : 1))
}
