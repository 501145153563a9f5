import { useId, type CSSProperties } from 'react'
import { useBarReading, type BarChoice, type Buckets } from './bar-reading.ts'
import { formatCount, formatShortCount, NO_DATA } from './format.ts'
import { PlatformTile } from './tiles.tsx'
import { countAxis } from './scale.ts'
import { kit } from './texts.ts'

export type BarTone = 'quiet' | 'base' | 'crit' | 'high' | 'regr'

export type BarSeries = {
  label: string
  tone: BarTone
  /** One per bucket; null where nothing is known, which is drawn as a gap. */
  values: readonly (number | null)[]
}

export type FaultLine = {
  /** 0 at the start of the chart, 1 at its end. */
  at: number
  label: string
  platform?: string
  /** `ok` where things got better. */
  tone?: 'ok'
  /** A word after the label, where there is room. */
  note?: string
  /** Left out where the chart is small. */
  isMinor?: boolean
}

type BarChartProps = {
  /** A sentence that states the finding. */
  label: string
  heightPx: number
  /** Stacked, the first at the bottom. */
  series: readonly BarSeries[]
  /** One per bucket, for the reading under the pointer. */
  buckets: readonly string[]
  /** Evenly spread under the field, first and last at its edges. */
  xLabels: readonly string[]
  faults?: readonly FaultLine[]
  /** The last bucket still counts and is drawn dashed. */
  openEnd?: boolean
  /** Lets a part of the time be chosen. */
  choice?: BarChoice
}

const WIDTH = 1000
const round = (value: number): number => Math.round(value * 100) / 100
/** Custom properties travel through the style object; React sets them one by one, so no policy is touched. */
const vars = (values: Record<`--${string}`, string>): CSSProperties => values

/** Bars over time with the fault lines that explain them. Arrow keys and the pointer read one bucket at a time. */
export function BarChart({
  label,
  heightPx,
  series,
  buckets,
  xLabels,
  faults = [],
  openEnd = false,
  choice,
}: BarChartProps) {
  const hint = useId()
  const length = buckets.length
  const { read, marked, handlers } = useBarReading(length, choice)
  const shown = marked ?? choice?.chosen ?? null
  const totals = buckets.map((_, index) => series.reduce((sum, part) => sum + (part.values[index] ?? 0), 0))
  const axis = countAxis(Math.max(0, ...totals))
  const last = openEnd ? length - 1 : length

  return (
    <div className="plot" style={vars({ '--h': `${heightPx}px` })}>
      <div className="y" aria-hidden="true">
        {axis.ticks.map((tick) => (
          <span key={tick} style={vars({ '--y': `${round((tick / axis.top) * 100)}%` })}>
            {formatShortCount(tick)}
          </span>
        ))}
      </div>
      <div className="field">
        <svg viewBox={`0 0 ${WIDTH} 100`} preserveAspectRatio="none" role="img" aria-label={label}>
          {axis.ticks.map((tick) => (
            <path key={tick} className="grid" d={`M0 ${round(100 - (tick / axis.top) * 100)}H${WIDTH}`} />
          ))}
          {series.map((part, index) => (
            <path
              key={part.label}
              className={`b-${part.tone}`}
              d={barsPath(series.slice(0, index), part, axis.top, 0, last)}
            />
          ))}
          {openEnd && length > 0 ? (
            <path className="b-part" d={openBar(totals[length - 1] ?? 0, length, axis.top)} />
          ) : null}
        </svg>
        {shown === null ? null : <Chosen buckets={shown} length={length} />}
        {faults.map((fault) => (
          <span
            key={`${fault.label} ${fault.at}`}
            className={classOf(fault)}
            style={vars({ '--x': `${round(fault.at * 100)}%` })}
          >
            <span>
              {fault.platform === undefined ? null : <PlatformTile platform={fault.platform} />}
              <b>{fault.label}</b>
              {fault.note === undefined ? null : <i>{fault.note}</i>}
            </span>
          </span>
        ))}
        <span
          className={choice === undefined ? 'reader' : 'reader is-choice'}
          role="slider"
          tabIndex={0}
          aria-label={kit.readValues}
          aria-describedby={choice === undefined ? undefined : hint}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, length - 1)}
          aria-valuenow={read ?? 0}
          aria-valuetext={
            marked === null || choice === undefined
              ? readingText(read, series, buckets)
              : `${kit.marked(choice.label(marked))} ${valuesText(series, marked)}`
          }
          {...handlers}
        />
        {choice === undefined ? null : (
          <span id={hint} className="sr">
            {kit.chooseHint}
          </span>
        )}
        {read === null ? null : (
          <Reading
            index={read}
            length={length}
            series={series}
            of={marked ?? [read, read]}
            bucket={marked === null || choice === undefined ? (buckets[read] ?? '') : choice.label(marked)}
          />
        )}
      </div>
      <div className="x" aria-hidden="true">
        {xLabels.map((text, index) => (
          // Times repeat on a day with a change of clocks.
          <span key={`${text}-${index}`}>{text}</span>
        ))}
      </div>
    </div>
  )
}

const classOf = ({ at, tone, isMinor }: FaultLine): string =>
  ['fault', at > 0.8 ? 'fault-r' : '', tone === 'ok' ? 'fault-ok' : '', isMinor === true ? 'fault-minor' : '']
    .filter((name) => name !== '')
    .join(' ')

/** The part of the chart that is looked at: everything beside it steps back. */
function Chosen({ buckets: [from, to], length }: { buckets: Buckets; length: number }) {
  const share = (index: number) => `${round((index / length) * 100)}%`
  return (
    <span
      className="chosen"
      aria-hidden="true"
      style={{ insetInlineStart: share(from), inlineSize: share(to + 1 - from) }}
    />
  )
}

/** All bars of one series as one path, standing on the series below. */
function barsPath(below: readonly BarSeries[], part: BarSeries, top: number, from: number, to: number): string {
  const step = WIDTH / Math.max(1, part.values.length)
  const width = round(step * 0.78)
  let path = ''
  for (let index = from; index < to; index++) {
    const value = part.values[index] ?? 0
    if (value === 0) continue
    const base = below.reduce((sum, other) => sum + (other.values[index] ?? 0), 0)
    const x = round(index * step + step * 0.11)
    path += `M${x} ${round(100 - ((base + value) / top) * 100)}h${width}V${round(100 - (base / top) * 100)}h${-width}z`
  }
  return path
}

function openBar(total: number, length: number, top: number): string {
  const step = WIDTH / length
  const width = round(step * 0.78)
  return `M${round((length - 1) * step + step * 0.11)} 100V${round(100 - (total / top) * 100)}h${width}V100`
}

type ReadingProps = { index: number; length: number; series: readonly BarSeries[]; of: Buckets; bucket: string }

function readingText(index: number | null, series: readonly BarSeries[], buckets: readonly string[]): string {
  if (index === null) return kit.nothingRead
  return `${buckets[index] ?? ''}: ${valuesText(series, [index, index])}`
}

const valuesText = (series: readonly BarSeries[], of: Buckets): string =>
  series.map((part) => `${part.label} ${formatReading(sumOf(part.values, of))}`).join(', ')

/** Null where nothing is known of any of the buckets. */
function sumOf(values: BarSeries['values'], [from, to]: Buckets): number | null {
  const known = values.slice(from, to + 1).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

const formatReading = (value: number | null): string => (value === null ? NO_DATA : formatCount(value))

/** One line and one box with the values of a bucket; the slider says the same in words. */
function Reading({ index, length, series, of, bucket }: ReadingProps) {
  const at = ((index + 0.5) / length) * 100
  const style =
    at > 60
      ? { insetInlineStart: 'auto', insetInlineEnd: `calc(${round(100 - at)}% + 12px)` }
      : vars({ '--x': `${round(at)}%` })
  return (
    <>
      <span className="hoverline" style={vars({ '--x': `${round(at)}%` })} />
      <span className="tip" style={style} aria-hidden="true">
        <b>{bucket}</b>
        {series.map((part) => (
          <span key={part.label}>
            <i className={`k b-${part.tone}`} />
            {part.label}
            <span className="num">{formatReading(sumOf(part.values, of))}</span>
          </span>
        ))}
      </span>
    </>
  )
}

/** What the colours mean. */
export function ChartLegend({ series }: { series: readonly Pick<BarSeries, 'label' | 'tone'>[] }) {
  return (
    <span className="legend">
      {series.map((part) => (
        <span key={part.label}>
          <i className={`k b-${part.tone}`} />
          {part.label}
        </span>
      ))}
    </span>
  )
}
