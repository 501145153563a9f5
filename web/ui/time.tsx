import { formatAge, formatAgo, formatClock, formatExact, formatMoment, formatSince } from './format.ts'
import { useNow } from './now.ts'

/** Forms that change as time passes. */
const PASSING = { ago: formatAgo, since: formatSince, age: formatAge } as const
/** Forms that do not change. */
const STILL = { clock: formatClock, exact: formatExact, moment: (at: string) => formatMoment(at) } as const

type TimeProps = {
  /** RFC 3339. */
  at: string
  /**
   * ago: `40 s`, then the day. since: `40 s ago`, then the day. age: `9 d`, `3 mo`. clock: `14:05`.
   * moment: `9 Nov, 14:05`. exact: date, seconds and zone.
   */
  as?: keyof typeof PASSING | keyof typeof STILL
  className?: string
}

/** An instant; the tooltip has the exact time. Under a minute it is updated every second, else every 30 s. */
export function Time({ at, as = 'ago', className }: TimeProps) {
  if (as === 'ago' || as === 'since' || as === 'age') return <Passing at={at} as={as} className={className} />
  return <Stamp at={at} text={STILL[as](at)} className={className} />
}

type PassingProps = { at: string; as: keyof typeof PASSING; className: string | undefined }

function Passing({ at, as, className }: PassingProps) {
  const slow = useNow('half-minute')
  const young = slow - Date.parse(at) < 90_000
  return young ? (
    <Ticking at={at} as={as} className={className} />
  ) : (
    <Stamp at={at} text={PASSING[as](at, slow)} className={className} />
  )
}

function Ticking({ at, as, className }: PassingProps) {
  const now = useNow('second')
  return <Stamp at={at} text={PASSING[as](at, now)} className={className} />
}

function Stamp({ at, text, className }: { at: string; text: string; className: string | undefined }) {
  return (
    <time dateTime={at} title={formatExact(at)} className={className}>
      {text}
    </time>
  )
}
