import type { Tx } from '../storage/database.ts'
import { dayOf } from '../kernel/day.ts'
import type { Occurrence } from './occurrence.ts'
import * as sql from './merged-issues.queries.ts'

/** Digestion of merged issues: what every one of them would say on its own is kept up, so that taking it out again is exact. */

/** Events of a fingerprint whose issue is one of several merged. */
export type MergedIssueEvents = { readonly sourceId: string; readonly occurrences: readonly Occurrence[] }

const HOUR_MS = 3_600_000

/**
 * Adds a batch to the members it came for. Three statements, and only in batches with events of merged issues; the
 * caller holds the lock of the issue they lead to, which stands for all of its members.
 */
export async function recordMergedIssues(tx: Tx, now: Date, members: readonly MergedIssueEvents[]): Promise<void> {
  if (members.length === 0) return
  const bySource = new Map<string, Occurrence[]>()
  for (const { sourceId, occurrences } of members)
    bySource.set(sourceId, [...(bySource.get(sourceId) ?? []), ...occurrences])
  const ownIds = await sql.addToMergedIssues(
    tx,
    [...bySource].map(([issueId, occurrences]) => additionOf(issueId, occurrences)),
  )
  const hours = new Map<string, { id: string; at: number; events: number }>()
  const users = new Map<string, { id: string; userHash: number; day: string }>()
  for (const [issueId, occurrences] of bySource) {
    const id = ownIds.get(issueId)
    if (id === undefined) continue
    for (const { event } of occurrences) {
      const at = Math.floor(event.occurredAt.getTime() / HOUR_MS) * HOUR_MS
      const hour = hours.get(id + at) ?? { id, at, events: 0 }
      hour.events++
      hours.set(id + at, hour)
      if (event.userHash === null) continue
      // As `countUsers` has it.
      const day = dayOf(event.occurredAt < now ? event.occurredAt : now)
      const known = users.get(id + event.userHash)
      if (known === undefined || known.day < day) users.set(id + event.userHash, { id, userHash: event.userHash, day })
    }
  }
  await sql.addMergedIssueHours(tx, [...hours.values()])
  await sql.addMergedIssueUsers(tx, [...users.values()])
}

function additionOf(issueId: string, occurrences: readonly Occurrence[]): sql.MergedIssueAddition {
  let [newest, oldest] = [occurrences[0], occurrences[0]]
  for (const one of occurrences) {
    if (newest === undefined || one.event.occurredAt >= newest.event.occurredAt) newest = one
    if (oldest === undefined || one.event.occurredAt < oldest.event.occurredAt) oldest = one
  }
  if (newest === undefined || oldest === undefined) throw new Error('a member without events')
  return {
    id: issueId,
    events: occurrences.length,
    firstSeen: oldest.event.occurredAt,
    firstRelease: oldest.event.release,
    newest,
    isUnhandled: occurrences.some((one) => one.isUnhandled),
    eventSeverity: occurrences.reduce((worst, one) => Math.max(worst, one.eventSeverity), 0),
  }
}
