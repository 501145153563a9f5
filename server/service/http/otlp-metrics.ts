import type { MetricType, MetricValue } from 'prom-client'

/** `ExportMetricsServiceRequest` of OTLP 1.x in JSON: camelCase names, 64-bit numbers as decimal text. */
type OtlpMetrics = { readonly resourceMetrics: readonly ResourceMetrics[] }
type ResourceMetrics = {
  readonly resource: { readonly attributes: readonly KeyValue[] }
  readonly scopeMetrics: readonly { readonly scope: { readonly name: string }; readonly metrics: readonly Metric[] }[]
}
type KeyValue = { readonly key: string; readonly value: { readonly stringValue: string } }
type Point = {
  readonly attributes: readonly KeyValue[]
  readonly startTimeUnixNano?: string
  readonly timeUnixNano: string
}
type NumberPoint = Point & { readonly asDouble: number }
type HistogramPoint = Point & {
  readonly count: string
  readonly sum: number
  readonly bucketCounts: readonly string[]
  readonly explicitBounds: readonly number[]
}
type Metric = { readonly name: string; readonly description: string; readonly unit?: string } & (
  | { readonly gauge: { readonly dataPoints: readonly NumberPoint[] } }
  | {
      readonly sum: {
        readonly dataPoints: readonly NumberPoint[]
        readonly aggregationTemporality: typeof CUMULATIVE
        readonly isMonotonic: true
      }
    }
  | {
      readonly histogram: {
        readonly dataPoints: readonly HistogramPoint[]
        readonly aggregationTemporality: typeof CUMULATIVE
      }
    }
)
const CUMULATIVE = 2

/** What `getMetricsAsJSON` returns; it types samples of histograms without their names. */
export type ReadMetric = {
  readonly name: string
  readonly help: string
  readonly type: MetricType | 'counter' | 'gauge' | 'histogram'
  readonly values: readonly Sample[]
}
type Sample = MetricValue<string> & { readonly metricName?: string }

/**
 * Writes metrics of Prometheus as OTLP: counters are cumulative and monotonic since `startMs`, histograms have a count for
 * each bucket. A sample that is no number is left out.
 * @param startMs when the process started to count
 */
export function toOtlpMetrics(
  metrics: readonly ReadMetric[],
  { resource, startMs, nowMs }: { resource: Readonly<Record<string, string>>; startMs: number; nowMs: number },
): OtlpMetrics {
  const times = { startTimeUnixNano: nanoseconds(startMs), timeUnixNano: nanoseconds(nowMs) }
  const written = joinHistograms(metrics).flatMap((metric): Metric[] => {
    const { name, help, type } = metric
    const head = { name, description: help, ...unitIn(name) }
    if (String(type) === 'histogram') {
      const dataPoints = histogramPoints(name, metric.values, times)
      return dataPoints.length === 0 ? [] : [{ ...head, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } }]
    }
    const isSum = String(type) === 'counter'
    const dataPoints = metric.values
      .filter(({ value }) => Number.isFinite(value))
      .map(({ value, labels }): NumberPoint => {
        const { timeUnixNano } = times
        return { attributes: attributesOf(labels), ...(isSum ? times : { timeUnixNano }), asDouble: value }
      })
    if (dataPoints.length === 0) return []
    if (!isSum) return [{ ...head, gauge: { dataPoints } }]
    return [{ ...head, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } }]
  })
  const scopeMetrics = [{ scope: { name: 'faultline' }, metrics: written }]
  return { resourceMetrics: [{ resource: { attributes: attributesOf(resource) }, scopeMetrics }] }
}

/** Figures have no histograms: three counters are one, which Prometheus sees no difference in. */
function joinHistograms(metrics: readonly ReadMetric[]): ReadMetric[] {
  const byName = new Map(metrics.map((metric) => [metric.name, metric]))
  for (const { name, help } of metrics) {
    if (!name.endsWith('_bucket')) continue
    const base = name.slice(0, -'_bucket'.length)
    const parts = [name, `${base}_sum`, `${base}_count`].flatMap((part) => byName.get(part) ?? [])
    const values = parts.flatMap((part) => part.values.map((sample) => ({ ...sample, metricName: part.name })))
    for (const part of parts) byName.delete(part.name)
    byName.set(base, { name: base, help, type: 'histogram', values })
  }
  return [...byName.values()]
}

/** Samples with the same labels but `le` are one point. Buckets of Prometheus count everything below their bound. */
function histogramPoints(name: string, samples: readonly Sample[], times: Omit<Point, 'attributes'>): HistogramPoint[] {
  const series = Map.groupBy(samples, ({ labels }) => JSON.stringify(withoutBound(labels)))
  return [...series.values()].flatMap((own): HistogramPoint[] => {
    const buckets = own
      .flatMap(({ labels: { le }, value }) => (le === undefined ? [] : [{ bound: boundOf(le), value }]))
      .sort((a, b) => a.bound - b.bound)
    const valueOf = (suffix: string): number =>
      own.find(({ metricName }) => metricName === `${name}${suffix}`)?.value ?? 0
    const count = valueOf('_count')
    if (buckets.length === 0) return []
    return [
      {
        attributes: attributesOf(withoutBound(own[0]?.labels ?? {})),
        ...times,
        count: String(count),
        sum: valueOf('_sum'),
        bucketCounts: buckets.map(({ value }, index) => String(value - (buckets[index - 1]?.value ?? 0))),
        explicitBounds: buckets.map(({ bound }) => bound).filter(Number.isFinite),
      },
    ]
  })
}

function withoutBound(labels: Sample['labels']): Sample['labels'] {
  const { le, ...others } = labels
  return le === undefined ? labels : others
}

const boundOf = (le: string | number): number => (le === '+Inf' ? Infinity : Number(le))

const attributesOf = (labels: Readonly<Record<string, string | number | undefined>>): KeyValue[] =>
  Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: String(value) } }))

/** Microseconds are the precision of the clock. */
const nanoseconds = (ms: number): string => `${BigInt(Math.round(ms * 1000))}000`

/** Units of UCUM, where the name says one. */
function unitIn(name: string): { unit?: string } {
  const base = name.replace(/_total$/, '')
  if (base.endsWith('_seconds')) return { unit: 's' }
  if (base.endsWith('_bytes')) return { unit: 'By' }
  return {}
}
