import { formatCount, formatShortCount } from './format.ts'
import typeStyles from './type.module.css'

/** A count in full, or shortened with the full number as its title. */
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
    <span
      className={className === undefined ? typeStyles.figures : `${typeStyles.figures} ${className}`}
      title={text === full ? undefined : full}
    >
      {text}
    </span>
  )
}
