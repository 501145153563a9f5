import { formatCount, formatShortCount } from './format.ts'

/** A count as tables write it, or shortened with the whole figure on hover. */
export function Count({
  value,
  short = false,
  className,
}: {
  value: number | null
  short?: boolean
  className?: string
}) {
  const full = formatCount(value)
  const text = short ? formatShortCount(value) : full
  return (
    <span className={className === undefined ? 'num' : `num ${className}`} title={text === full ? undefined : full}>
      {text}
    </span>
  )
}
