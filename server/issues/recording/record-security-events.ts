import { SECURITY_KINDS, type SecurityKind } from '#shared/alert-rules.ts'
import type { FactContext } from '../../platform/context/fact-context.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { GroupedEvents, Occurrence } from './occurrence.ts'
import * as sql from './security-events.queries.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** Records security events of a batch: one fact for each issue and kind, however many events there are. */
export async function recordSecurityEvents(
  tx: Tx,
  context: FactContext,
  grouped: readonly GroupedEvents[],
): Promise<void> {
  const facts = new Map<string, Fact>()
  const hours = new Map<string, sql.SecurityHour>()
  for (const group of grouped)
    for (const occurrence of group.occurrences) {
      const kind = occurrence.securityKind
      if (kind === null) continue
      const key = `${group.issueId}/${kind}`
      if (!facts.has(key)) facts.set(key, factOf(group, occurrence, kind))
      const hour = Math.floor(occurrence.event.occurredAt.getTime() / HOUR_MS) * HOUR_MS
      hours.set(`${group.projectId}/${hour}/${group.groupId}/${SECURITY_KINDS.indexOf(kind)}`, {
        projectId: group.projectId,
        groupId: group.groupId,
        kind,
        hour: new Date(hour),
        at: occurrence.event.occurredAt,
      })
    }
  if (facts.size === 0) return
  await sql.insertHours(
    tx,
    [...hours].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
  )
  await recordFacts(tx, context, [...facts.values()])
}

const factOf = ({ orgId, projectId, issueId }: GroupedEvents, { event }: Occurrence, kind: SecurityKind): Fact => ({
  kind: 'issue.security_event',
  orgId,
  projectId,
  issueId,
  data: { kind, event_id: event.eventId, environment: event.environment },
})
