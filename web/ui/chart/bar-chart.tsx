import { classNames } from '../class-names.ts'
import { formatCount, formatDuration, formatShortCount, NO_DATA } from '../format.ts'
import { countAxis, durationAxis } from './axis.ts'
import { toneClass, type ChartTone } from './tones.ts'
import { ChartFrame, type Marker, type Spot } from './chart-frame.tsx'
import type { PlacedLabel } from './label-places.ts'
import type { BarChoice, Buckets } from './use-chart-reading.ts'
import styles from './marks.module.css'

export type BarSeries = {
  label: string
  tone: ChartTone
  /** One per bucket; null is unknown and drawn as a gap. */
  values: readonly (number | null)[]
}

type BarChartProps = {
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
  /** The values are durations in milliseconds, one of a series for each bucket, and not counts. */
  durations?: boolean
  /** Buckets that are tinted over the whole height, such as those without what was expected. */
  tinted?: readonly boolean[]
  /** A line with its label shows it, and the axis includes it. Counts that reach it are red. */
  limit?: { value: number; label: string }
  /** The last bucket is incomplete and drawn dashed. */
  openEnd?: boolean
  /** Allows selecting a part of the time. */
  choice?: BarChoice
}

const WIDTH = 1000
/** Room above a limit, as a share of it. */
const LIMIT_ROOM = 1.15
const overLimit = (totals: readonly number[], limit: number): (number | null)[] =>
  totals.map((total) => (total >= limit ? total : null))
const round = (value: number): number => Math.round(value * 100) / 100

/** Counts over time as stacked bars. */
export function BarChart({
  series,
  buckets,
  openEnd = false,
  choice,
  limit,
  durations = false,
  tinted = [],
  ...frame
}: BarChartProps) {
  const length = buckets.length
  const totals = buckets.map((_, index) => series.reduce((sum, part) => sum + (part.values[index] ?? 0), 0))
  const axis = (durations ? durationAxis : countAxis)(
    Math.max(0, ...totals, (limit?.value ?? 0) * LIMIT_ROOM),
    frame.heightPx,
  )
  const last = openEnd ? length - 1 : length
  const titleOf = ([from, to]: Buckets): string =>
    from === to || choice === undefined ? (buckets[from] ?? '') : choice.label([from, to])
  return (
    <ChartFrame
      {...frame}
      axis={axis}
      formatTick={durations ? formatTick : formatShortCount}
      length={length}
      at={(index) => (index + 0.5) / length}
      choice={choice}
      thresholds={
        limit === undefined
          ? []
          : [{ from: limit.value, to: Infinity, label: limit.label, tone: durations ? 'warn' : 'bad', edge: true }]
      }
      read={(of) => ({
        title: titleOf(of),
        values: series.flatMap(({ label, tone, values }) => {
          const sum = sumOf(values, of)
          if (durations) return sum === null ? [] : [{ label, tone, mark: 'bar', value: formatDuration(sum) }]
          return [{ label, tone, mark: 'bar', value: formatReading(sum) }]
        }),
      })}
    >
      {(y) => (
        <>
          {tinted.includes(true) ? <path className={styles.tint} d={tintPath(tinted)} /> : null}
          {series.map((part, index) => (
            <path
              key={part.label}
              className={classNames(styles.filled, toneClass(part.tone))}
              d={barsPath(series.slice(0, index), part, y, [0, last])}
            />
          ))}
          {openEnd
            ? series.map((part, index) => (
                <path
                  key={part.label}
                  className={classNames(styles.filled, styles.unfinished, toneClass(part.tone))}
                  d={barsPath(series.slice(0, index), part, y, [last, length])}
                />
              ))
            : null}
          {limit === undefined || durations ? null : (
            <path
              className={classNames(styles.filled, toneClass('crit'))}
              d={barsPath([], { label: '', tone: 'crit', values: overLimit(totals, limit.value) }, y, [0, last])}
            />
          )}
          {openEnd && length > 0 ? (
            <path className={styles.open} d={openBar(y(totals[length - 1] ?? 0), length)} />
          ) : null}
        </>
      )}
    </ChartFrame>
  )
}

/** The bars of a series in some buckets as one path, stacked on the series below. @param to excluded */
function barsPath(
  below: readonly BarSeries[],
  part: BarSeries,
  y: (value: number) => number,
  [from, to]: readonly [number, number],
): string {
  const step = WIDTH / Math.max(1, part.values.length)
  const width = round(step * 0.78)
  let path = ''
  for (let index = from; index < to; index++) {
    const value = part.values[index] ?? 0
    if (value === 0) continue
    const base = below.reduce((sum, other) => sum + (other.values[index] ?? 0), 0)
    const x = round(index * step + step * 0.11)
    path += `M${x} ${y(base + value)}h${width}V${y(base)}h${-width}z`
  }
  return path
}

/** Whole buckets, so that neighbours form one area. */
function tintPath(tinted: readonly boolean[]): string {
  const step = WIDTH / Math.max(1, tinted.length)
  return tinted
    .map((isTinted, index) => (isTinted ? `M${round(index * step)} 0h${round(step)}V100h${-round(step)}z` : ''))
    .join('')
}

const formatTick = (value: number): string => (value === 0 ? '0' : formatDuration(value))

function openBar(top: number, length: number): string {
  const step = WIDTH / length
  return `M${round((length - 1) * step + step * 0.11)} 100V${top}h${round(step * 0.78)}V100`
}

/** The sum of the known values; null if there are none. */
function sumOf(values: BarSeries['values'], [from, to]: Buckets): number | null {
  const known = values.slice(from, to + 1).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

const formatReading = (value: number | null): string => (value === null ? NO_DATA : formatCount(value))
