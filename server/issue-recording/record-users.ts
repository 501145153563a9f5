import type { Tx } from '../storage/database.ts'
import { dayOf } from '../kernel/day.ts'
import type { ArrivedEvent } from '../issue-rules/life-cycle.ts'
import type { Group, Occurrence } from './occurrence.ts'
import * as sql from './record.queries.ts'

/** The times of events for the life cycle, and the users they affected. */

/** An event as the life cycle needs it. */
export const arrivedEventOf = (one: Occurrence): ArrivedEvent => {
  const { eventId, release, occurredAt } = one.event
  return { eventId, release, occurredAt, happenedAt: happenedAt(one) }
}

/** No event happened after it was received. An event that an app kept for months happened that long ago. */
function happenedAt({ event, claimedAt }: Occurrence): Date {
  const claimed = claimedAt ?? event.occurredAt
  return claimed > event.receivedAt ? event.receivedAt : claimed
}

export type UsersOfIssue = sql.CountedUsers & {
  /** When the events first affected each new user; only of issues that are ignored until a number of users. */
  readonly newUsersSeen: readonly Date[]
}

/** By issue, the users affected for the first time, and for the first time today. */
export async function countUsers(tx: Tx, now: Date, groups: readonly Group[]): Promise<Map<string, UsersOfIssue>> {
  const today = dayOf(now)
  const pairs = new Map<string, { issueId: string; userHash: number; day: string; seenAt: Date }>()
  for (const { issueId, occurrences } of groups) {
    for (const one of occurrences) {
      const { userHash, occurredAt } = one.event
      if (userHash === null) continue
      const key = `${issueId}${userHash}`
      // A client's clock may be slightly ahead at midnight: its user counts for today.
      const day = dayOf(occurredAt) > today ? today : dayOf(occurredAt)
      const seenAt = happenedAt(one)
      const known = pairs.get(key)
      if (known === undefined) pairs.set(key, { issueId, userHash, day, seenAt })
      else {
        if (known.day < day) known.day = day
        if (seenAt < known.seenAt) known.seenAt = seenAt
      }
    }
  }
  const awaited = groups.filter(({ life }) => life.ignored?.until?.users !== undefined).map(({ issueId }) => issueId)
  const counted = await sql.insertUsers(tx, [...pairs.values()], today, awaited)
  return new Map(
    [...counted].map(([issueId, { new_users: hashes, ...counts }]) => [
      issueId,
      { ...counts, newUsersSeen: (hashes ?? []).flatMap((hash) => pairs.get(`${issueId}${hash}`)?.seenAt ?? []) },
    ]),
  )
}
