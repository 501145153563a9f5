import { SECURITY_KINDS } from '#shared/alert-rules.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { GroupedEvents } from './occurrence.ts'
import * as sql from './security-events.queries.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** Records the hours with security events of a batch. Their facts are recorded by the fold. */
export async function recordSecurityHours(tx: Tx, grouped: readonly GroupedEvents[]): Promise<void> {
  const hours = new Map<string, sql.SecurityHour>()
  for (const group of grouped)
    for (const { securityKind: kind, event } of group.occurrences) {
      if (kind === null) continue
      const hour = Math.floor(event.occurredAt.getTime() / HOUR_MS) * HOUR_MS
      hours.set(`${group.projectId}/${hour}/${group.groupId}/${SECURITY_KINDS.indexOf(kind)}`, {
        projectId: group.projectId,
        groupId: group.groupId,
        kind,
        hour: new Date(hour),
        at: event.occurredAt,
      })
    }
  if (hours.size === 0) return
  await sql.insertHours(
    tx,
    [...hours].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
  )
}
