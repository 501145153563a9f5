import { receivedSince } from '../events/store.ts'
import type { Tx } from '../storage/pool.ts'
import { lifeFrom } from './life-columns.ts'
import { sight, type Sighting } from './life-cycle.ts'
import { writeEntries, writeLives } from './life.queries.ts'
import type { LockedIssue } from './merging.queries.ts'
import { releaseBook } from './resolution.queries.ts'
import { versionsIn } from './resolution.ts'

/** Of what came while an issue was hidden so many of the newest act on it. */
const MOST_EVENTS = 1_000
/** No condition waits for more users than this, so more of them say nothing. */
const MOST_USERS = 10_000

/**
 * What came for an issue while it was hidden acts on its life now, by the usual rules; everything else is as it was left.
 * @param issue its row as it was while hidden
 * @param away.since when it was hidden
 */
export async function bringBack(
  tx: Tx,
  issue: LockedIssue,
  away: { readonly sourceIds: readonly string[]; readonly since: Date | undefined; readonly now: Date },
): Promise<void> {
  const life = lifeFrom(issue)
  if (away.since === undefined || (life.resolved === null && life.ignored === null)) return
  const came = await receivedSince(tx, away.sourceIds, away.since, MOST_EVENTS)
  const [newest] = came
  if (newest === undefined) return
  const events = came.map(({ eventId, release, occurredAt, receivedAt }) => ({
    eventId,
    release,
    occurredAt,
    happenedAt: occurredAt > receivedAt ? receivedAt : occurredAt,
  }))
  const step = sight(
    life,
    { events, newUsers: await newUsersOf(tx, issue, newest.occurredAt), releases: await releasesOf(tx, issue, events) },
    away.now,
  )
  if (step.life === life) return
  await writeLives(tx, [{ id: issue.id, life: step.life, severity: null }])
  await writeEntries(
    tx,
    away.now,
    null,
    step.entries.map((entry) => ({ ...entry, issueId: issue.id })),
  )
}

/** How many came is known, when each of them came is not. */
async function newUsersOf(tx: Tx, issue: LockedIssue, at: Date): Promise<Date[]> {
  const { user_count: users } = await tx
    .selectFrom('issues')
    .select('user_count')
    .where('id', '=', issue.id)
    .executeTakeFirstOrThrow()
  return Array.from({ length: Math.min(Math.max(users - issue.user_count, 0), MOST_USERS) }, () => at)
}

async function releasesOf(
  tx: Tx,
  issue: LockedIssue,
  events: readonly { readonly release: string | null }[],
): Promise<Sighting['releases']> {
  const { resolved } = lifeFrom(issue)
  if (resolved === null) return new Map()
  const met = events.flatMap(({ release }) => release ?? [])
  return releaseBook(tx, issue.project_id, [...new Set([...versionsIn(resolved.fix), ...met])])
}
