import type { Range } from '../../address/search.ts'
import type { Marker } from '../../ui/chart/chart-frame.tsx'
import type { PlacedLabel } from '../../ui/chart/label-places.ts'
import type { BarChoice, Buckets } from '../../ui/chart/use-chart-reading.ts'
import { formatWindow } from '../../ui/format.ts'
import { chooseMarkers } from './markers.ts'
import { bucketLabel } from './time-axis.ts'
import { windowBuckets, windowOfBuckets, type Window } from './time-window.ts'
import { timeTicks } from './time-ticks.ts'

/** The time axis that all charts of a page share: the range, or the selected part of it. Pure. */

type ReleaseAt = { readonly version: string; readonly at: string }

export type TimeAxis = {
  /** The shown buckets. */
  readonly shown: Buckets
  /** Whether the last shown bucket is the present one. */
  readonly openEnd: boolean
  readonly names: readonly string[]
  readonly ticks: readonly PlacedLabel[]
  readonly markers: readonly Marker[]
  /** Dragging shows a part of what is shown. */
  readonly choice: BarChoice
}

/** The axis of a chart of bars. */
export const barAxis = ({ names, openEnd, ticks, markers, choice }: TimeAxis) => ({
  buckets: names,
  openEnd,
  xLabels: ticks,
  markers,
  choice,
})

/** The axis of a chart of lines, each of whose values is of a bucket. */
export const lineAxis = ({ names, openEnd, ticks, markers, choice }: TimeAxis) => ({
  places: names,
  buckets: true,
  fromZero: true,
  openEnd,
  xLabels: ticks,
  markers,
  choice,
})

type TimeAxisInput = {
  points: readonly { readonly t: string; readonly incomplete?: boolean | undefined }[]
  intervalSeconds: number
  range: Range
  window: Window | null
  releases: readonly ReleaseAt[]
  onWindow: (window: Window | null) => void
}

export function buildTimeAxis({ points, intervalSeconds, range, window, releases, onWindow }: TimeAxisInput): TimeAxis {
  const chosen = windowBuckets(window, points, intervalSeconds)
  // A single bucket is no line.
  const shown: Buckets = chosen === null || chosen[0] === chosen[1] ? [0, points.length - 1] : chosen
  const part = points.slice(shown[0], shown[1] + 1)
  const start = part[0]?.t ?? ''
  const openEnd = part.at(-1)?.incomplete === true
  const end = Date.parse(part.at(-1)?.t ?? '') + intervalSeconds * 1000
  const windowAt = ([from, to]: Buckets) => windowOfBuckets([shown[0] + from, shown[0] + to], points, intervalSeconds)
  return {
    shown,
    openEnd,
    names: part.map(({ t }) => bucketLabel(t, intervalSeconds, range)),
    ticks: timeTicks(Date.parse(start), end, openEnd),
    markers: chooseMarkers(null, releases, {
      start,
      interval_seconds: intervalSeconds,
      counts: part.map(() => 0),
    }),
    choice: {
      chosen: null,
      onChoose: (buckets) => {
        if (buckets === null) onWindow(null)
        else if (buckets[0] !== buckets[1]) onWindow(windowAt(buckets))
      },
      label: (buckets) => {
        const marked = windowAt(buckets)
        return marked === null ? '' : formatWindow(marked.from, marked.to)
      },
    },
  }
}

/** The values of a series that are shown. */
export const sliceShown = <T>(values: readonly T[], { shown: [from, to] }: Pick<TimeAxis, 'shown'>): T[] =>
  values.slice(from, to + 1)
