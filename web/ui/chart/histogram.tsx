import { ticks } from 'd3-array'
import { classNames } from '../class-names.ts'
import { formatCount, formatShortCount } from '../format.ts'
import { countAxis } from './axis.ts'
import { ChartFrame, type Marker } from './chart-frame.tsx'
import { toneClass, type ChartTone } from './tones.ts'
import styles from './marks.module.css'

export type HistogramBin = {
  readonly from: number
  readonly to: number
  readonly count: number
  readonly tone: ChartTone
}

type HistogramProps = {
  /** A sentence with the finding. */
  label: string
  heightPx: number
  /** In ascending order, without overlaps. */
  bins: readonly HistogramBin[]
  /** Values with a name, such as percentiles. */
  marks: readonly { readonly value: number; readonly label: string }[]
  /** The counted thing. */
  unit: string
  formatEdge: (value: number) => string
  binName: (bin: HistogramBin) => string
}

const round = (value: number): number => Math.round(value * 100) / 100

/** How often values occur, with lines at some of them. The axis of values begins at 0. */
export function Histogram({ label, heightPx, bins, marks, unit, formatEdge, binName }: HistogramProps) {
  const high = Math.max(1, ...bins.map((bin) => bin.to))
  const axis = countAxis(Math.max(0, ...bins.map((bin) => bin.count)), heightPx)
  const tones = [...new Set(bins.map((bin) => bin.tone))]
  return (
    <ChartFrame
      label={label}
      heightPx={heightPx}
      axis={axis}
      formatTick={formatShortCount}
      length={bins.length}
      at={(index) => middleOf(bins[index]) / high}
      xLabels={ticks(0, high, 6).map((value) => ({ at: value / high, text: value === 0 ? '0' : formatEdge(value) }))}
      markers={joinMarks(marks, high)}
      read={([index]) => {
        const bin = bins[index]
        return bin === undefined
          ? { title: '', values: [] }
          : {
              title: binName(bin),
              values: [{ label: unit, tone: bin.tone, mark: 'bar', value: formatCount(bin.count) }],
            }
      }}
    >
      {(y) =>
        tones.map((tone) => (
          <path
            key={tone}
            className={classNames(styles.filled, toneClass(tone))}
            d={bins
              .filter((bin) => bin.tone === tone && bin.count > 0)
              .map((bin) => {
                const width = ((bin.to - bin.from) / high) * 1000
                return `M${round((bin.from / high) * 1000 + width * 0.06)} 100V${y(bin.count)}h${round(width * 0.88)}V100z`
              })
              .join('')}
          />
        ))
      }
    </ChartFrame>
  )
}

/** Lines closer than this share of the chart have no room for a name each. */
const MIN_DISTANCE = 0.08

/** The marks as lines; the first of lines that are close to each other has the names of all. */
export function joinMarks(marks: HistogramProps['marks'], high: number): Marker[] {
  const lines: { at: number; label: string; solid: true }[] = []
  let first: (typeof lines)[number] | undefined
  for (const { value, label } of marks.toSorted((a, b) => a.value - b.value)) {
    if (value > high) continue
    const at = value / high
    const isClose = first !== undefined && at - (lines.at(-1)?.at ?? 0) < MIN_DISTANCE
    if (isClose && first !== undefined) first.label = `${first.label}, ${label}`
    const line = { at, label: isClose ? '' : label, solid: true as const }
    lines.push(line)
    if (!isClose) first = line
  }
  return lines
}

const middleOf = (bin: HistogramBin | undefined): number => (bin === undefined ? 0 : (bin.from + bin.to) / 2)
