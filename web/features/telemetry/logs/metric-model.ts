import type { MetricGroup, MetricName } from '../../../api/log-queries.ts'
import type { METRIC_AGGREGATES } from '../../../address/search.ts'
import { formatDuration, formatShare, formatSize, NO_DATA } from '../../../ui/format.ts'
import { traceMetricsTexts as texts } from './trace-metrics-texts.ts'

/** How values of trace metrics are read. Pure. */

export type Aggregate = (typeof METRIC_AGGREGATES)[number]

/** The aggregate that says most about a type. */
export const chooseAggregate = (type: MetricName['type']): Aggregate =>
  type === 'counter' ? 'sum' : type === 'gauge' ? 'avg' : 'p95'

/** Milliseconds of the units of time that SDKs name. */
const TIME_UNITS: Readonly<Record<string, number>> = {
  nanosecond: 1e-6,
  microsecond: 1e-3,
  millisecond: 1,
  second: 1e3,
  minute: 6e4,
  hour: 3.6e6,
  day: 8.64e7,
}
const SIZE_UNITS: Readonly<Record<string, number>> = { byte: 1, kilobyte: 1e3, megabyte: 1e6, gigabyte: 1e9 }

const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 4, notation: 'compact' })
const exact = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 })

/** A value with its unit; durations, sizes and shares as everywhere in the dashboard. */
export function formatMeasure(value: number | null, unit: string | null): string {
  if (value === null) return NO_DATA
  const time = unit === null ? undefined : TIME_UNITS[unit]
  if (time !== undefined && value >= 0) return formatDuration(value * time)
  const size = unit === null ? undefined : SIZE_UNITS[unit]
  if (size !== undefined && value >= 0) return formatSize(Math.round(value * size))
  if (unit === 'ratio') return formatShare(value)
  const number = Math.abs(value) >= 1e6 ? short.format(value) : exact.format(value)
  return unit === null || unit === 'none' ? number : unit === 'percent' ? `${number}\u202f%` : `${number}\u202f${unit}`
}

/** The name of a group as it is shown. */
export const nameGroup = ({ value, is_rest: isRest }: Pick<MetricGroup, 'value' | 'is_rest'>): string =>
  isRest ? texts.rest : (value ?? texts.without)
