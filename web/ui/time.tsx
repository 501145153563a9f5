import { formatAge, formatAgo, formatClock, formatExact } from './format.ts'
import { useNow } from './now.ts'

type TimeProps = {
  /** RFC 3339. */
  at: string
  /** ago: `40 s`, then the day. age: `9 d`, `3 mo`. clock: `14:05`. exact: date, seconds and zone. */
  as?: 'ago' | 'age' | 'clock' | 'exact'
  className?: string
}

/** An instant; the exact time stands in the tooltip. Figures under a minute tick each second, others every 30 s. */
export function Time({ at, as = 'ago', className }: TimeProps) {
  if (as === 'clock' || as === 'exact')
    return <Stamp at={at} text={as === 'clock' ? formatClock(at) : formatExact(at)} className={className} />
  return <Passing at={at} as={as} className={className} />
}

function Passing({ at, as, className }: { at: string; as: 'ago' | 'age'; className: string | undefined }) {
  const slow = useNow('half-minute')
  const young = slow - Date.parse(at) < 90_000
  return young ? (
    <Ticking at={at} as={as} className={className} />
  ) : (
    <Stamp at={at} text={as === 'ago' ? formatAgo(at, slow) : formatAge(at, slow)} className={className} />
  )
}

function Ticking({ at, as, className }: { at: string; as: 'ago' | 'age'; className: string | undefined }) {
  const now = useNow('second')
  return <Stamp at={at} text={as === 'ago' ? formatAgo(at, now) : formatAge(at, now)} className={className} />
}

function Stamp({ at, text, className }: { at: string; text: string; className: string | undefined }) {
  return (
    <time dateTime={at} title={formatExact(at)} className={className}>
      {text}
    </time>
  )
}
