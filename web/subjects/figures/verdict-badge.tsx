import type { ReleaseRow } from '../../api/release-queries.ts'
import { Badge } from '../../ui/badge.tsx'
import { formatCount, formatPoints, formatRate } from '../../ui/format.ts'
import type { Grade } from '../../ui/grade-dot.tsx'
import { figuresTexts } from './texts.ts'

type Judged = Pick<ReleaseRow, 'verdict' | 'verdict_reason' | 'verdict_numbers'>

const LOOKS = {
  healthy: { colour: 'green', icon: 'check', grade: 'good' },
  watch: { colour: 'amber', icon: 'eye', grade: 'warn' },
  hold: { colour: 'red', icon: 'warn', grade: 'bad' },
  too_early: { colour: 'plain', icon: 'clock', grade: null },
  replaced: { colour: 'plain', icon: null, grade: null },
  no_sessions: { colour: 'plain', icon: null, grade: null },
  planned: { colour: 'blue', icon: null, grade: null },
  archived: { colour: 'plain', icon: null, grade: null },
} as const

/**
 * How a release is doing, with the number behind it; the whole reason is its title.
 * @param short without the number, where the row has it
 */
export function VerdictBadge({ row, short = false }: { row: Judged; short?: boolean }) {
  const { colour, icon } = LOOKS[row.verdict]
  const word = figuresTexts.verdicts[row.verdict]
  const cause = short ? null : verdictCause(row)
  return (
    <span title={row.verdict_reason}>
      <Badge tone={colour} {...(icon === null ? {} : { icon })}>
        {cause === null ? word : figuresTexts.verdictWith(word, cause)}
      </Badge>
    </span>
  )
}

/** The grade of a release's figures, from its verdict; null where it is not judged. */
export const gradeOfVerdict = ({ verdict }: Pick<Judged, 'verdict'>): Grade | null => LOOKS[verdict].grade

/** The number that decided a verdict; null for one that is not explained by a number, and for a good one. */
export function verdictCause({ verdict, verdict_numbers: numbers }: Judged): string | null {
  if (verdict === 'healthy') return null
  switch (numbers.decided_by) {
    case 'crash_free_sessions':
      return numbers.crash_free_sessions === null ? null : formatRate(numbers.crash_free_sessions)
    case 'fall':
      return numbers.fall === null ? null : formatPoints(-numbers.fall)
    case 'regressions':
      return figuresTexts.regressions(numbers.regressions)
    case 'sessions':
      return figuresTexts.sessionsOf(formatCount(numbers.sessions))
    default:
      return null
  }
}
