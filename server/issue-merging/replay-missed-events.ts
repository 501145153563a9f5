import { selectCounts } from './rating.queries.ts'
import { DIGESTION } from '../context/actor.ts'
import { newestArrived, type Arrived } from '../events/store.queries.ts'
import { lifeFrom } from '../issue-rules/life-columns.ts'
import { onEvents, type ArrivedEvents } from '../issue-rules/life-cycle.ts'
import { writeEntries, writeLives } from '../issue-rows/life.queries.ts'
import type { Tx } from '../storage/database.ts'
import type { LockedIssue } from './merging.queries.ts'
import { releasesByVersion } from '../issue-rows/resolution.queries.ts'
import { versionsIn } from '../issue-rules/resolution.ts'

/** What came while an issue was hidden is looked for among so many of its newest events: its lock holds up digestion. */
const LOOKED_AT = 1_000
/** No condition waits for more users than this, so more of them say nothing. */
const MAX_USERS = 10_000

/**
 * What came for an issue while it was hidden acts on its life now, by the usual rules; everything else is as it was left.
 * @param issue its row as it was while hidden
 * @param away.since when it was hidden
 */
export async function replayMissedEvents(
  tx: Tx,
  issue: LockedIssue,
  away: { readonly sourceIds: readonly string[]; readonly since: Date | undefined; readonly now: Date },
): Promise<void> {
  const life = lifeFrom(issue)
  if (away.since === undefined || (life.resolved === null && life.ignored === null)) return
  const grown = await grownSince(tx, issue)
  const came = arrivedSince(await newestArrived(tx, away.sourceIds, LOOKED_AT), away.since, grown.events)
  const [newest] = came
  if (newest === undefined) return
  const events = came.map(({ eventId, release, occurredAt, receivedAt }) => ({
    eventId,
    release,
    occurredAt,
    happenedAt: occurredAt > receivedAt ? receivedAt : occurredAt,
  }))
  const step = onEvents(
    life,
    {
      events,
      newUsers: Array.from({ length: Math.min(grown.users, MAX_USERS) }, () => newest.occurredAt),
      releases: await releasesOf(tx, issue, events),
    },
    away.now,
  )
  if (step.life === life) return
  await writeLives(tx, [{ id: issue.id, life: step.life, severity: null }])
  await writeEntries(
    tx,
    away.now,
    DIGESTION,
    step.entries.map((entry) => ({ ...entry, issueId: issue.id })),
  )
}

/**
 * Which of these events came while an issue was hidden: those received since, and as many of the last received before as
 * it counts more, since they were in the spool by then.
 */
export function arrivedSince(newest: readonly Arrived[], since: Date, count: number): Arrived[] {
  const isAfter = ({ receivedAt }: Arrived): boolean => receivedAt.getTime() > since.getTime()
  const after = newest.filter(isAfter)
  const waited = newest
    .filter((event) => !isAfter(event))
    .sort((a, b) => b.receivedAt.getTime() - a.receivedAt.getTime())
    .slice(0, Math.max(count - after.length, 0))
  const came = new Set([...after, ...waited])
  return newest.filter((event) => came.has(event))
}

/** How many events and users an issue counts more than while hidden; when each of them came is not known. */
async function grownSince(tx: Tx, issue: LockedIssue): Promise<{ events: number; users: number }> {
  const now = await selectCounts(tx, issue.id)
  return {
    events: Math.max(Number(now.events) - Number(issue.event_count), 0),
    users: Math.max(now.users - issue.user_count, 0),
  }
}

async function releasesOf(
  tx: Tx,
  issue: LockedIssue,
  events: readonly { readonly release: string | null }[],
): Promise<ArrivedEvents['releases']> {
  const { resolved } = lifeFrom(issue)
  if (resolved === null) return new Map()
  const met = events.flatMap(({ release }) => release ?? [])
  return releasesByVersion(tx, issue.project_id, [...new Set([...versionsIn(resolved.fix), ...met])])
}
