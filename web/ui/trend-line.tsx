import { linePath } from './line-shapes.ts'

/** A share over time in the height of a row, without an axis. Gaps stay gaps. @param quiet not the one to look at */
export function TrendLine({ shares, quiet }: { shares: readonly (number | null)[]; quiet: boolean }) {
  const x = (index: number) => (shares.length <= 1 ? 0 : index / (shares.length - 1))
  const y = (share: number) => share * 92 + 2
  const d = linePath(shares, x, y)
  return (
    <svg
      className={quiet ? 'trendline quiet' : 'trendline'}
      viewBox="0 0 1000 100"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path className="ln" d={d} />
    </svg>
  )
}
