import { lazy, Suspense } from 'react'
import type { Marker } from './chart-frame.tsx'
import type { ChartTone } from './tones.ts'
import type { BarChoice } from './use-chart-reading.ts'

export type BarSeries = {
  label: string
  tone: ChartTone
  /** One per bucket; null where nothing is known, which is drawn as a gap. */
  values: readonly (number | null)[]
}

export type BarChartProps = {
  /** A sentence that states the finding. */
  label: string
  heightPx: number
  /** Stacked, the first at the bottom. */
  series: readonly BarSeries[]
  /** One per bucket, for the reading under the pointer. */
  buckets: readonly string[]
  /** Evenly spread under the field, first and last at its edges. */
  xLabels: readonly string[]
  /** Most important first; given at all, they have their lane. */
  markers?: readonly Marker[]
  /** The last bucket still counts and is drawn dashed. */
  openEnd?: boolean
  /** Lets a part of the time be chosen. */
  choice?: BarChoice
}

const Bars = lazy(async () => ({ default: (await import('./bars.tsx')).Bars }))

/** Names of times under the field. */
const LABELS_PX = 20

/** Counts over time as stacked bars. The first load of a page goes without charts; their place is kept. */
export function BarChart(props: BarChartProps) {
  return (
    <Suspense fallback={<div style={{ blockSize: props.heightPx + LABELS_PX }} aria-busy="true" />}>
      <Bars {...props} />
    </Suspense>
  )
}
