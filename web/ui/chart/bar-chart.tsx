import { lazy, Suspense } from 'react'
import type { Marker, Spot } from './chart-frame.tsx'
import type { PlacedLabel } from './label-places.ts'
import type { ChartTone } from './tones.ts'
import type { BarChoice } from './use-chart-reading.ts'

export type BarSeries = {
  label: string
  tone: ChartTone
  /** One per bucket; null is unknown and drawn as a gap. */
  values: readonly (number | null)[]
}

export type BarChartProps = {
  /** A sentence with the finding. */
  label: string
  heightPx: number
  /** Stacked, the first at the bottom. */
  series: readonly BarSeries[]
  /** The name of each bucket, for the reading. */
  buckets: readonly string[]
  /** Texts are evenly spread under the plot, first and last at its edges. */
  xLabels: readonly string[] | readonly PlacedLabel[]
  /** The most important first. If given, space is reserved for them. */
  markers?: readonly Marker[]
  spots?: readonly Spot[]
  /** Bars that reach it are red; a line with its label shows it. The axis includes it. */
  limit?: { value: number; label: string }
  /** The last bucket is incomplete and drawn dashed. */
  openEnd?: boolean
  /** Allows selecting a part of the time. */
  choice?: BarChoice
}

const Bars = lazy(async () => ({ default: (await import('./bars.tsx')).Bars }))

/** Height of the time labels. */
const LABELS_PX = 20

/** Counts over time as stacked bars, loaded after the page; their space is reserved. */
export function BarChart(props: BarChartProps) {
  return (
    <Suspense fallback={<div style={{ blockSize: props.heightPx + LABELS_PX }} aria-busy="true" />}>
      <Bars {...props} />
    </Suspense>
  )
}
