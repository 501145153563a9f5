import { classNames } from '../class-names.ts'
import { linePath } from './line-shapes.ts'
import styles from './trend-line.module.css'

/** A share over time in the height of a row, without an axis. @param quiet drawn in a secondary colour */
export function TrendLine({ shares, quiet }: { shares: readonly (number | null)[]; quiet: boolean }) {
  const x = (index: number) => (shares.length <= 1 ? 0 : index / (shares.length - 1))
  const y = (share: number) => 98 - share * 92
  return (
    <svg
      className={classNames(styles.trend, quiet && styles.quiet)}
      viewBox="0 0 1000 100"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={linePath(shares, x, y)} />
    </svg>
  )
}
