import type { ReleaseRow } from '../../api/release-queries.ts'
import { Badge } from '../../ui/badge.tsx'
import { healthTexts } from './texts.ts'

const LOOKS = {
  healthy: { colour: 'green', icon: 'check' },
  watch: { colour: 'amber', icon: 'eye' },
  hold: { colour: 'red', icon: 'warn' },
  too_early: { colour: 'plain', icon: 'clock' },
  replaced: { colour: 'plain', icon: null },
  no_sessions: { colour: 'plain', icon: null },
  planned: { colour: 'blue', icon: null },
  archived: { colour: 'plain', icon: null },
} as const

/** How a release is doing, with the reason as its title. */
export function VerdictBadge({ row }: { row: Pick<ReleaseRow, 'verdict' | 'verdict_reason'> }) {
  const { colour, icon } = LOOKS[row.verdict]
  return (
    <span title={row.verdict_reason}>
      <Badge tone={colour} {...(icon === null ? {} : { icon })}>
        {healthTexts.verdicts[row.verdict]}
      </Badge>
    </span>
  )
}
