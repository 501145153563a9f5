import type { AuditEntry } from '../../../api/audit-queries.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Minor } from '../../../ui/text.tsx'
import { auditTexts as texts } from './texts.ts'

/** Quiet when all went well. */
export const Outcome = ({ outcome }: { outcome: AuditEntry['outcome'] }) =>
  outcome === 'ok' ? (
    <Minor>{texts.outcomes.ok}</Minor>
  ) : (
    <Badge tone={outcome === 'denied' ? 'amber' : 'red'} icon={outcome === 'denied' ? 'lock' : 'x'}>
      {texts.outcomes[outcome]}
    </Badge>
  )
