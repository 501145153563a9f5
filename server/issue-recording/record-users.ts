import type { Tx } from '../storage/database.ts'
import { dayOf } from '../kernel/day.ts'
import type { ArrivedEvent } from '../issue-rules/life-cycle.ts'
import type { Group, Occurrence } from './occurrence.ts'
import * as sql from './record.queries.ts'

/** When events happened, as far as transitions go, and whom they met. */

/** What transitions go by. */
export const seenOf = (one: Occurrence): ArrivedEvent => {
  const { eventId, release, occurredAt } = one.event
  return { eventId, release, occurredAt, happenedAt: happenedAt(one) }
}

/** Nothing happened after it was received, and what an app kept for months happened that long ago. */
function happenedAt({ event, claimedAt }: Occurrence): Date {
  const claimed = claimedAt ?? event.occurredAt
  return claimed > event.receivedAt ? event.receivedAt : claimed
}

export type UsersOfIssue = sql.CountedUsers & {
  /** When the events first met each new user; only where somebody waits for them. */
  readonly newUsersMet: readonly Date[]
}

/** Users seen on an issue for the first time, and for the first time today, per issue. */
export async function countUsers(tx: Tx, now: Date, groups: readonly Group[]): Promise<Map<string, UsersOfIssue>> {
  const today = dayOf(now)
  const pairs = new Map<string, { issueId: string; userHash: number; day: string; metAt: Date }>()
  for (const { issueId, occurrences } of groups) {
    for (const one of occurrences) {
      const { userHash, occurredAt } = one.event
      if (userHash === null) continue
      const key = `${issueId}${userHash}`
      // A clock a moment ahead at midnight: that user is of today.
      const day = dayOf(occurredAt) > today ? today : dayOf(occurredAt)
      const metAt = happenedAt(one)
      const known = pairs.get(key)
      if (known === undefined) pairs.set(key, { issueId, userHash, day, metAt })
      else {
        if (known.day < day) known.day = day
        if (metAt < known.metAt) known.metAt = metAt
      }
    }
  }
  const awaited = groups.filter(({ life }) => life.ignored?.until?.users !== undefined).map(({ issueId }) => issueId)
  const counted = await sql.insertUsers(tx, [...pairs.values()], today, awaited)
  return new Map(
    [...counted].map(([issueId, { new_users: hashes, ...counts }]) => [
      issueId,
      { ...counts, newUsersMet: (hashes ?? []).flatMap((hash) => pairs.get(`${issueId}${hash}`)?.metAt ?? []) },
    ]),
  )
}
