import { useState, type CSSProperties, type KeyboardEvent, type PointerEvent } from 'react'
import { formatCount, formatShortCount, NO_DATA } from './format.ts'
import { PlatformTile } from './tiles.tsx'
import { countAxis } from './scale.ts'
import { kit } from '../words/kit.ts'

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
}

const WIDTH = 1000
const round = (value: number): number => Math.round(value * 100) / 100
/** Custom properties travel through the style object; React sets them one by one, so no policy is touched. */
const vars = (values: Record<`--${string}`, string>): CSSProperties => values

/** Bars over time with the fault lines that explain them. Arrow keys and the pointer read one bucket at a time. */
export function BarChart({ label, heightPx, series, buckets, xLabels, faults = [], openEnd = false }: BarChartProps) {
  const [read, setRead] = useState<number | null>(null)
  const length = buckets.length
  const totals = buckets.map((_, index) => series.reduce((sum, part) => sum + (part.values[index] ?? 0), 0))
  const axis = countAxis(Math.max(0, ...totals))
  const last = openEnd ? length - 1 : length

  const byPointer = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const index = Math.floor(((event.clientX - box.left) / box.width) * length)
    setRead(Math.min(length - 1, Math.max(0, index)))
  }
  const byKey = (event: KeyboardEvent<HTMLElement>) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (event.key === 'Escape') setRead(null)
    if (step === 0 || length === 0) return
    event.preventDefault()
    event.stopPropagation()
    setRead((index) => Math.min(length - 1, Math.max(0, index === null ? (step > 0 ? 0 : length - 1) : index + step)))
  }

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
        {faults.map((fault) => (
          <span
            key={`${fault.label} ${fault.at}`}
            className={fault.at > 0.8 ? 'fault fault-r' : 'fault'}
            style={vars({ '--x': `${round(fault.at * 100)}%` })}
          >
            <span>
              {fault.platform === undefined ? null : <PlatformTile platform={fault.platform} />}
              {fault.label}
            </span>
          </span>
        ))}
        <span
          className="reader"
          role="slider"
          tabIndex={0}
          aria-label={kit.readValues}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, length - 1)}
          aria-valuenow={read ?? 0}
          aria-valuetext={readingText(read, series, buckets)}
          onPointerMove={byPointer}
          onPointerLeave={() => setRead(null)}
          onBlur={() => setRead(null)}
          onKeyDown={byKey}
        />
        {read === null ? null : <Reading index={read} length={length} series={series} bucket={buckets[read] ?? ''} />}
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

type ReadingProps = { index: number; length: number; series: readonly BarSeries[]; bucket: string }

function readingText(index: number | null, series: readonly BarSeries[], buckets: readonly string[]): string {
  if (index === null) return kit.nothingRead
  const values = series.map((part) => `${part.label} ${formatReading(part.values[index] ?? null)}`)
  return `${buckets[index] ?? ''}: ${values.join(', ')}`
}

const formatReading = (value: number | null): string => (value === null ? NO_DATA : formatCount(value))

/** One line and one box with the values of a bucket; the slider says the same in words. */
function Reading({ index, length, series, bucket }: ReadingProps) {
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
            <span className="num">{formatReading(part.values[index] ?? null)}</span>
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
