import { ticks } from 'd3-array'
import type { CSSProperties } from 'react'
import { uiTexts } from '../texts.ts'
import { fittingLabels } from './label-places.ts'
import { useWidth } from './use-width.ts'
import styles from './range-plot.module.css'

type Tone = 'plain' | 'warn' | 'bad'

type RangePlotProps = {
  low: number
  middle: number
  high: number
  /** The end of the axis, which begins at 0. */
  end: number
  middleTone: Tone
  highTone: Tone
}

const vars = (values: Record<`--${string}`, string>): CSSProperties => values
const placeOf = (value: number, end: number): string => `${Math.round(Math.min(1, value / end) * 1000) / 10}%`

/** Three values on a common axis: a tick, a dot and a tick. The figures stand beside it. */
export const RangePlot = ({ low, middle, high, end, middleTone, highTone }: RangePlotProps) => (
  <span className={styles.plot} aria-hidden="true">
    <span className={styles.track} style={vars({ '--from': placeOf(low, end), '--to': placeOf(high, end) })} />
    <span className={styles.low} style={vars({ '--x': placeOf(low, end) })} />
    <span className={styles.middle} data-tone={middleTone} style={vars({ '--x': placeOf(middle, end) })} />
    <span className={styles.high} data-tone={highTone} style={vars({ '--x': placeOf(high, end) })} />
  </span>
)

/** The axis of the plots below it. */
export function RangeAxis({ end, format }: { end: number; format: (value: number) => string }) {
  const [axis, width] = useWidth<HTMLSpanElement>()
  const labels = fittingLabels(
    ticks(0, end, 4).map((value) => ({ at: value / end, text: format(value) })),
    width,
  )
  return (
    <span className={styles.axis} ref={axis} aria-hidden="true">
      {labels.map(({ at, text }) => (
        <span key={at} style={vars({ '--x': `${Math.round(at * 1000) / 10}%` })}>
          {text}
        </span>
      ))}
    </span>
  )
}

/** The marks of a range plot with their names. */
export const RangeLegend = () => (
  <span className={styles.legend} aria-hidden="true">
    <span>
      <i className={styles.keyLow} />
      {uiTexts.p50}
    </span>
    <span>
      <i className={styles.keyMiddle} />
      {uiTexts.p75}
    </span>
    <span>
      <i className={styles.keyHigh} />
      {uiTexts.p95}
    </span>
  </span>
)
