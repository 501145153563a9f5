import { classNames } from '../class-names.ts'
import { areaPath, linePath, lonelyValues } from './line-shapes.ts'
import { toneClass, type ChartTone } from './tones.ts'
import styles from './trend-line.module.css'

/** Values over time in the height of a row, without an axis. Their scale begins at 0 and ends at `max`. */
export function TrendLine({ values, max, tone }: { values: readonly (number | null)[]; max: number; tone: ChartTone }) {
  const x = (index: number) => (values.length <= 1 ? 0 : index / (values.length - 1))
  const y = (value: number) => 98 - (max <= 0 ? 0 : value / max) * 92
  return (
    <svg
      className={classNames(styles.trend, toneClass(tone))}
      viewBox="0 0 1000 100"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path className={styles.under} d={areaPath(values, x, y)} />
      <path className={styles.line} d={linePath(values, x, y)} />
      <path className={classNames(styles.line, styles.dots)} d={linePath(lonelyValues(values), x, y)} />
    </svg>
  )
}
