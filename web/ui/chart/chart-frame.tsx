import { useId, type CSSProperties, type ReactNode } from 'react'
import { uiTexts } from '../texts.ts'
import { classNames } from '../class-names.ts'
import { PlatformTile } from '../platform-tile.tsx'
import { share, type Axis } from './axis.ts'
import { Key } from './legend.tsx'
import { toneClass, type ChartTone } from './tones.ts'
import {
  fittingLabels,
  LINE_PX,
  placeBeside,
  placeMarkers,
  shownLabels,
  textWidth,
  type Box,
  type PlacedLabel,
} from './label-places.ts'
import { useChartReading, type BarChoice, type Buckets } from './use-chart-reading.ts'
import { useWidth } from './use-width.ts'
import styles from './chart-frame.module.css'
import typeStyles from '../type.module.css'

const BANDS = {
  good: { area: styles.bandGood, limit: styles.limitWarn, word: styles.wordGood },
  warn: { area: styles.bandWarn, limit: styles.limitWarn, word: styles.wordWarn },
  bad: { area: styles.bandBad, limit: styles.limitBad, word: styles.wordBad },
} as const

/** A line on the chart that shows a release or a change of status, with its name. */
export type Marker = {
  /** Position, 0 to 1. */
  at: number
  label: string
  platform?: string
  /** `ok` for an improvement. */
  tone?: 'ok'
  /** Text after the label, if there is room. */
  note?: string
  /** A value of the chart itself, such as a percentile, and not something that happened. */
  solid?: boolean
}

/** A range of values with a name. */
export type Threshold = {
  from: number
  to: number
  label: string
  tone: 'good' | 'warn' | 'bad'
  /** A line marks where it begins, such as the limit of an alert. */
  edge?: boolean
}

/** A numbered disc in the lane above the plot, for something that happens many times. */
export type Spot = { at: number; label: string }

/** A value at one position, for the tooltip and the slider. Without a tone it is not drawn, such as a sample size. */
export type ReadValue = { label: string; tone: ChartTone | null; mark: 'bar' | 'line'; value: string }

type ChartFrameProps = {
  /** A sentence with the finding. */
  label: string
  /** Height above the time labels; the lane of markers is part of it. */
  heightPx: number
  axis: Axis
  formatTick: (value: number) => string
  /** The number of positions, and where each is: 0 at the start of the plot, 1 at its end. */
  length: number
  at: (index: number) => number
  /** Texts are evenly spread under the plot, first and last at its edges. */
  xLabels: readonly string[] | readonly PlacedLabel[]
  /** Room after the plot for labels of points, if the chart has space. */
  endPx?: number
  /** The values at some positions: several while a range is selected. */
  read: (of: Buckets) => { title: string; values: readonly ReadValue[] }
  thresholds?: readonly Threshold[]
  /** The most important first. If given, even empty, space is reserved for them. */
  markers?: readonly Marker[]
  /** Numbered moments, in the order of time; those without room are left out. Space is reserved if given. */
  spots?: readonly Spot[]
  /** Labels beside points, such as the newest value of a line; left out where there is no room. */
  points?: readonly { index: number; value: number; text: string; tone: ChartTone }[]
  /** Labels inside the plot, at fractions of it; shown if they fit into `wide` and `high`. */
  labels?: readonly { x: number; y: number; wide: number; high: number; text: string; tone: ChartTone }[]
  /** Allows selecting a range by dragging, or by Shift with the arrow keys. */
  choice?: BarChoice | undefined
  /** Draws the marks on a plot of 1000 × 100; `y` is the distance from the top. */
  children: (y: (value: number) => number) => ReactNode
}

const MARKER_LANE_PX = 18
/** A narrower chart has no room after its plot. */
const MIN_WITH_END_PX = 440
const round = (value: number): number => Math.round(value * 100) / 100
/** Custom properties in a style object. React sets them through the DOM, which the content security policy allows. */
const vars = (values: Record<`--${string}`, string>): CSSProperties => values

/**
 * The frame of every chart: an axis with round ticks, time labels that never collide, thresholds, markers, a tooltip by
 * pointer and arrow keys, and selection of a time range.
 */
export function ChartFrame(props: ChartFrameProps) {
  const {
    label,
    heightPx,
    axis,
    formatTick,
    length,
    at,
    xLabels,
    read,
    thresholds = [],
    markers,
    spots,
    choice,
  } = props
  const hint = useId()
  const [plot, plotWidth] = useWidth<HTMLDivElement>()
  const [field, width] = useWidth<HTMLDivElement>()
  const endPx = plotWidth < MIN_WITH_END_PX ? 0 : (props.endPx ?? 0)
  const reading = useChartReading(length, at, choice)
  const laneHeight = markers === undefined && spots === undefined ? 0 : MARKER_LANE_PX
  const height = heightPx - laneHeight
  const y = (value: number): number => round(100 - share(axis, value) * 100)
  const shown = reading.marked ?? choice?.chosen ?? null
  const bands = thresholds.flatMap((one) => {
    const [from, to] = [Math.max(axis.low, one.from), Math.min(axis.high, one.to)]
    return from < to ? [{ ...one, from, to }] : []
  })
  const textOf = (of: Buckets): string => {
    const { title, values } = read(of)
    const said = values.map((one) => `${one.label} ${one.value}`).join(', ')
    return reading.marked === null ? `${title}: ${said}` : `${uiTexts.marked(title)} ${said}`
  }
  const of = reading.marked ?? (reading.read === null ? null : ([reading.read, reading.read] as const))

  return (
    <div
      className={styles.plot}
      ref={plot}
      style={vars({ '--h': `${height}px`, '--lane': `${laneHeight}px`, '--end': `${endPx}px` })}
    >
      <div className={styles.y} aria-hidden="true">
        {axis.ticks.map((tick) => (
          <span key={tick} style={vars({ '--y': `${round(share(axis, tick) * 100)}%` })}>
            {formatTick(tick)}
          </span>
        ))}
      </div>
      <div className={styles.field} ref={field}>
        <svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label={label}>
          {bands.map((band) => (
            <rect
              key={band.label}
              className={BANDS[band.tone].area}
              x="0"
              width="1000"
              y={y(band.to)}
              height={round(y(band.from) - y(band.to))}
            />
          ))}
          {axis.ticks.map((tick) => (
            <path key={tick} className={styles.grid} d={`M0 ${y(tick)}H1000`} />
          ))}
          {bands.map((band) =>
            band.to < axis.high ? (
              <path key={band.label} className={BANDS[band.tone].limit} d={`M0 ${y(band.to)}H1000`} />
            ) : null,
          )}
          {props.children(y)}
          {bands.map((band) =>
            band.edge === true && band.from > axis.low ? (
              <path key={band.label} className={styles.edge} data-tone={band.tone} d={`M0 ${y(band.from)}H1000`} />
            ) : null,
          )}
        </svg>
        {shown === null ? null : <Chosen buckets={shown} length={length} />}
        <Words {...props} width={width} endPx={endPx} height={height} bands={bands} />
        {(markers ?? []).map((marker) => (
          <span
            key={`${marker.label} ${marker.at}`}
            className={classNames(
              styles.marker,
              marker.tone === 'ok' && styles.better,
              marker.solid === true && styles.solid,
            )}
            style={vars({ '--x': `${round(marker.at * 100)}%` })}
            aria-hidden="true"
          />
        ))}
        <MarkerNames markers={markers ?? []} width={width} />
        {fittingSpots(spots ?? [], width).map((spot) => (
          <span
            key={`${spot.label} ${spot.at}`}
            className={styles.spot}
            style={vars({ '--x': `${round(spot.at * 100)}%` })}
            aria-hidden="true"
          >
            {spot.label}
          </span>
        ))}
        <span
          className={classNames(styles.reader, choice !== undefined && styles.choosable)}
          role="slider"
          tabIndex={0}
          aria-label={uiTexts.readValues}
          aria-describedby={choice === undefined ? undefined : hint}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, length - 1)}
          aria-valuenow={reading.read ?? 0}
          aria-valuetext={of === null ? uiTexts.nothingRead : textOf(of)}
          {...reading.handlers}
        />
        {choice === undefined ? null : (
          <span id={hint} className={typeStyles.hidden}>
            {uiTexts.chooseHint}
          </span>
        )}
        {reading.read === null || of === null ? null : (
          <Reading x={at(reading.read) * width} width={width} {...read(of)} />
        )}
      </div>
      <Labels labels={xLabels} width={width} />
    </div>
  )
}

/** The labels of thresholds, points and layers that fit. */
function Words(props: ChartFrameProps & { width: number; endPx: number; height: number; bands: readonly Threshold[] }) {
  const { axis, at, width, endPx, height, bands, points = [], labels = [] } = props
  const named = bands.flatMap((band) => {
    const bottom = (1 - share(axis, band.from)) * height
    const room = (share(axis, band.to) - share(axis, band.from)) * height
    if (room < LINE_PX) return []
    const box: Box = {
      left: 4,
      top: bottom - Math.min(room, LINE_PX + 4),
      width: textWidth(band.label) + 8,
      height: LINE_PX,
    }
    return [{ band, box }]
  })
  const dots = points.map((point) => ({
    ...point,
    x: at(point.index) * width,
    y: (1 - share(axis, point.value)) * height,
  }))
  const places = placeBeside(
    dots,
    { width, height },
    named.map(({ box }) => box),
    endPx,
  )
  return (
    <>
      {named.map(({ band, box }) => (
        <span
          key={band.label}
          className={classNames(styles.word, BANDS[band.tone].word)}
          style={positionOf(box)}
          aria-hidden="true"
        >
          {band.label}
        </span>
      ))}
      {labels
        .filter((one) => textWidth(one.text) + 8 <= one.wide * width && LINE_PX + 4 <= one.high * height)
        .map((one) => (
          <span
            key={one.text}
            className={classNames(styles.layer, toneClass(one.tone), one.tone === 'newest' && styles.onDark)}
            style={vars({ '--x': `${round(one.x * 100)}%`, '--y': `${round(one.y * 100)}%` })}
            aria-hidden="true"
          >
            {one.text}
          </span>
        ))}
      {dots.map((dot, index) => {
        const box = places[index] ?? null
        return (
          <span key={dot.text} aria-hidden="true">
            <i
              className={classNames(styles.point, toneClass(dot.tone))}
              style={{ insetInlineStart: dot.x, insetBlockStart: dot.y }}
            />
            {box === null ? null : (
              <span className={styles.word} style={positionOf(box)}>
                {dot.text}
              </span>
            )}
          </span>
        )
      })}
    </>
  )
}

const positionOf = (box: Box): CSSProperties => ({ insetInlineStart: box.left, insetBlockStart: box.top })

const SPOT_PX = 18

/** The spots that do not touch each other. */
function fittingSpots(spots: readonly Spot[], width: number): Spot[] {
  const shown: Spot[] = []
  for (const spot of spots) {
    const before = shown.at(-1)
    if (before === undefined || (spot.at - before.at) * width >= SPOT_PX) shown.push(spot)
  }
  return shown
}

const nameOf = (marker: Marker): string => `${marker.label}${marker.note ?? ''}`

/** The names of markers, in the lane above the plot. */
function MarkerNames({ markers, width }: { markers: readonly Marker[]; width: number }) {
  const placed = placeMarkers(markers, width, (one) => textWidth(nameOf(one)) + (one.platform === undefined ? 8 : 38))
  return placed.map(({ item, side, roomPx }) => (
    <span
      key={`${item.label} ${item.at}`}
      className={classNames(styles.name, side === 'start' && styles.before, item.tone === 'ok' && typeStyles.green)}
      style={{ ...vars({ '--x': `${round(item.at * 100)}%` }), maxInlineSize: roomPx }}
    >
      {item.platform === undefined ? null : <PlatformTile platform={item.platform} />}
      <b>{item.label}</b>
      {item.note === undefined ? null : <i>{item.note}</i>}
    </span>
  ))
}

/** The selected range; the rest of the chart is dimmed. */
function Chosen({ buckets: [from, to], length }: { buckets: Buckets; length: number }) {
  const part = (index: number) => `${round((index / length) * 100)}%`
  return (
    <span
      className={styles.chosen}
      aria-hidden="true"
      style={{ insetInlineStart: part(from), inlineSize: part(to + 1 - from) }}
    />
  )
}

const BOX_PX = 200

/** A line and a tooltip with the values at one position; the slider announces the same. */
function Reading({
  x,
  width,
  title,
  values,
}: {
  x: number
  width: number
  title: string
  values: readonly ReadValue[]
}) {
  const after = x + BOX_PX + 12 <= width
  const before = x - BOX_PX - 12 >= 0
  const style: CSSProperties =
    after || (!before && x < width / 2)
      ? { insetInlineStart: after ? x + 12 : undefined, insetInlineEnd: after ? undefined : 0 }
      : { insetInlineEnd: before ? width - x + 12 : undefined, insetInlineStart: before ? undefined : 0 }
  return (
    <>
      <span className={styles.hoverline} style={{ insetInlineStart: x }} />
      <span className={classNames(styles.tip, typeStyles.strongNames)} style={style} aria-hidden="true">
        <b>{title}</b>
        {values.map((one) => (
          <span key={one.label}>
            {one.tone === null ? null : <Key tone={one.tone} mark={one.mark} />}
            {one.label}
            <span className={typeStyles.figures}>{one.value}</span>
          </span>
        ))}
      </span>
    </>
  )
}

function Labels({ labels, width }: { labels: ChartFrameProps['xLabels']; width: number }) {
  const placed = labels.filter((one) => typeof one !== 'string')
  return placed.length === 0 ? (
    <SpreadLabels labels={labels.filter((one) => typeof one === 'string')} width={width} />
  ) : (
    <div className={styles.places} aria-hidden="true">
      {fittingLabels(placed, width).map(({ at, text }) => (
        <span key={at} data-end={at === 1 ? '' : undefined} style={vars({ '--x': `${round(at * 100)}%` })}>
          {text}
        </span>
      ))}
    </div>
  )
}

function SpreadLabels({ labels, width }: { labels: readonly string[]; width: number }) {
  const shown = shownLabels(labels, width)
  return (
    <div className={styles.x} aria-hidden="true">
      {labels.map((text, index) => (
        // Times repeat on a day when the clocks change.
        <span key={`${text}-${index}`} hidden={shown[index] !== true}>
          {text}
        </span>
      ))}
    </div>
  )
}
