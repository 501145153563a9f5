import { classNames } from '../class-names.ts'
import { valueAxis } from './axis.ts'
import { toneClass, type ChartTone } from './tones.ts'
import { ChartFrame, type Marker, type ReadValue, type Spot, type Threshold } from './chart-frame.tsx'
import type { PlacedLabel } from './label-places.ts'
import { areaPath, linePath, lonelyValues, splitOpenEnd } from './line-shapes.ts'
import type { BarChoice } from './use-chart-reading.ts'
import styles from './marks.module.css'

export type ChartLine = {
  label: string
  tone: ChartTone
  /** One per position; null is a gap. */
  values: readonly (number | null)[]
  /** thin: an earlier period. dashed: a projection. */
  look?: 'thin' | 'dashed'
  /** The label of its newest value; null for none. By default the value, after the label except for the first line. */
  end?: string | null
}

type LineChartProps = {
  /** A sentence with the finding. */
  label: string
  heightPx: number
  /** The first is the main one: it is drawn above the others, and its newest value has a label. */
  lines: readonly ChartLine[]
  /** The names of the positions, as many as the longest line can have. */
  places: readonly string[]
  /** Positions are buckets of time, drawn at their middle; otherwise the first and the last are at the edges. */
  buckets?: boolean
  xLabels: readonly string[] | readonly PlacedLabel[]
  /** The axis always includes their limits. */
  thresholds: readonly Threshold[]
  /** Bounds of the axis, such as 1 for a share. */
  max?: number
  /** The axis begins at 0. */
  fromZero?: boolean
  /** The values are counts. */
  counts?: boolean
  /** Fills the area below the first line. */
  filled?: boolean
  /** The last position is incomplete: the step to it is dashed. */
  openEnd?: boolean
  /** Room after the plot for labels, if the chart has space. */
  endPx?: number
  markers?: readonly Marker[]
  spots?: readonly Spot[]
  formatTick: (value: number) => string
  formatValue: (value: number | null) => string
  /** More values of a position, such as its sample size. */
  readMore?: (index: number) => readonly { label: string; value: string }[]
  choice?: BarChoice
}

/** Values over places as lines, with thresholds behind them. */
export function LineChart(props: LineChartProps) {
  const { lines, places, thresholds, max, fromZero = false, filled = false, openEnd = false, counts = false } = props
  const { buckets = false, formatValue, readMore, choice, ...frame } = props
  const length = places.length
  const limits = thresholds.flatMap(({ from, to }) => [from, to]).filter((one) => one > 0 && one < (max ?? Infinity))
  const axis = valueAxis(
    lines.flatMap((line) => line.values),
    {
      heightPx: frame.heightPx,
      include: fromZero ? [0, ...limits] : limits,
      counts,
      ...(max === undefined ? {} : { max }),
    },
  )
  const at = (index: number): number =>
    buckets ? (index + 0.5) / Math.max(1, length) : length <= 1 ? 0 : index / (length - 1)
  const [main] = lines
  return (
    <ChartFrame
      {...frame}
      axis={axis}
      choice={choice}
      length={length}
      at={at}
      points={lines.flatMap((line, order) => {
        const index = line.values.findLastIndex((value) => value !== null)
        const value = line.values[index] ?? null
        if (value === null || line.end === null) return []
        const text = line.end ?? (order === 0 ? formatValue(value) : `${line.label} ${formatValue(value)}`)
        return [{ index, value, tone: line.tone, text }]
      })}
      read={([from, index]) => ({
        title: from === index || choice === undefined ? (places[index] ?? '') : choice.label([from, index]),
        values: [
          ...lines
            // A projection ends where values are known, and begins there.
            .filter((line) => line.look !== 'dashed' || (line.values[index] ?? null) !== null)
            .map((line): ReadValue => ({
              label: line.label,
              tone: line.tone,
              mark: 'line',
              value: formatValue(line.values[index] ?? null),
            })),
          ...(readMore?.(index) ?? []).map((one): ReadValue => ({ ...one, tone: null, mark: 'line' })),
        ],
      })}
    >
      {(y) => (
        <>
          {filled && main !== undefined ? (
            <path className={classNames(styles.under, toneClass(main.tone))} d={areaPath(main.values, at, y)} />
          ) : null}
          {lines.toReversed().map((line) => {
            const { closed, open } =
              openEnd && line === main ? splitOpenEnd(line.values) : { closed: line.values, open: [] }
            const look = classNames(
              styles.line,
              toneClass(line.tone),
              line === main && styles.main,
              line.look === 'thin' && styles.thin,
            )
            return (
              <g key={line.label}>
                <path
                  className={classNames(look, line.look === 'dashed' && styles.dashed)}
                  d={linePath(closed, at, y)}
                />
                <path className={classNames(look, styles.dots)} d={linePath(lonelyValues(line.values), at, y)} />
                {open.length === 0 ? null : (
                  <path className={classNames(look, styles.dashed)} d={linePath(open, at, y)} />
                )}
              </g>
            )
          })}
        </>
      )}
    </ChartFrame>
  )
}
