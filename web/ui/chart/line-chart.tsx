import { classNames } from '../class-names.ts'
import { valueAxis } from './axis.ts'
import { toneClass, type ChartTone } from './tones.ts'
import { ChartFrame, type Marker, type Threshold } from './chart-frame.tsx'
import { linePath } from './line-shapes.ts'
import type { BarChoice } from './use-chart-reading.ts'
import styles from './marks.module.css'

export type ChartLine = {
  label: string
  tone: ChartTone
  /** One per position; null is a gap. */
  values: readonly (number | null)[]
}

type LineChartProps = {
  /** A sentence with the finding. */
  label: string
  heightPx: number
  /** The first is the main one: it is drawn above the others, and its newest value has a label. */
  lines: readonly ChartLine[]
  /** The names of the positions, as many as the longest line can have. */
  places: readonly string[]
  xLabels: readonly string[]
  /** The axis always includes their limits. */
  thresholds: readonly Threshold[]
  /** Bounds of the axis, such as 1 for a share. */
  max?: number
  markers?: readonly Marker[]
  formatTick: (value: number) => string
  formatValue: (value: number | null) => string
  choice?: BarChoice
}

/** Values over places as lines, with thresholds behind them. */
export function LineChart({ lines, places, thresholds, max, formatValue, ...frame }: LineChartProps) {
  const length = places.length
  const limits = thresholds.flatMap(({ from, to }) => [from, to]).filter((one) => one > 0 && one < (max ?? Infinity))
  const axis = valueAxis(
    lines.flatMap((line) => line.values),
    { heightPx: frame.heightPx, include: limits, ...(max === undefined ? {} : { max }) },
  )
  const at = (index: number): number => (length <= 1 ? 0 : index / (length - 1))
  return (
    <ChartFrame
      {...frame}
      axis={axis}
      length={length}
      at={at}
      thresholds={thresholds}
      points={lines.flatMap((line, order) => {
        const index = line.values.findLastIndex((value) => value !== null)
        const value = line.values[index] ?? null
        const text = order === 0 ? formatValue(value) : `${line.label} ${formatValue(value)}`
        return value === null ? [] : [{ index, value, tone: line.tone, text }]
      })}
      read={([index]) => ({
        title: places[index] ?? '',
        values: lines.map((line) => ({
          label: line.label,
          tone: line.tone,
          mark: 'line',
          value: formatValue(line.values[index] ?? null),
        })),
      })}
    >
      {(y) =>
        lines
          .toReversed()
          .map((line) => (
            <path
              key={line.label}
              className={classNames(styles.line, toneClass(line.tone), line === lines[0] && styles.main)}
              d={linePath(line.values, at, y)}
            />
          ))
      }
    </ChartFrame>
  )
}
