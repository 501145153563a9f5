import type { Tx } from '../storage/database.ts'
import { dayOf } from '../kernel/day.ts'
import type { Occurrence } from './occurrence.ts'
import * as sql from './merged-issues.queries.ts'

/** Keeps the own facts of each merged issue up to date, so that unmerging it is exact. */

/** Events of a fingerprint of a merged issue, or of a merge target's own. */
export type MergedIssueEvents = { readonly sourceId: string; readonly occurrences: readonly Occurrence[] }

const HOUR_MS = 3_600_000

/**
 * Adds the events of a batch to the merged issues that they belong to. Three statements, only for batches with such
 * events. The caller holds the lock of the merge target, which covers all issues merged into it.
 */
export async function recordMergedIssues(tx: Tx, now: Date, merged: readonly MergedIssueEvents[]): Promise<void> {
  if (merged.length === 0) return
  const bySource = new Map<string, Occurrence[]>()
  for (const { sourceId, occurrences } of merged)
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
      // As in `countUsers`.
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
  if (newest === undefined || oldest === undefined) throw new Error('a merged issue without events')
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
