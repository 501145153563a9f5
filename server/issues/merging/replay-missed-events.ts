import { selectCounts, writeLives, releasesByVersion } from '../rows/issues.queries.ts'
import type { FactContext } from '../../platform/context/actor.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { newestArrived, type Arrived } from '../../events/store/store.queries.ts'
import { uncountedEvents } from '../rows/groups.queries.ts'
import { lifeFrom } from '../rules/life-columns.ts'
import { onEvents, type ArrivedEvents } from '../rules/life-cycle.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { LockedIssue } from './merging.queries.ts'
import { versionsIn } from '../rules/resolution.ts'

/** Missed events are searched among this number of newest events: the lock of the issue blocks digestion. */
const MAX_EVENTS = 1_000
/** No condition has a greater number of users. */
const MAX_USERS = 10_000

/**
 * Applies to the life cycle of an unmerged issue, by the usual rules, the events that it received while it was merged.
 * Events that are not counted yet are left to their fold.
 * @param issue its row while it was merged
 * @param merged.since when it was merged
 */
export async function replayMissedEvents(
  tx: Tx,
  context: FactContext,
  orgId: string,
  issue: LockedIssue,
  merged: { readonly groupIds: readonly string[]; readonly since: Date },
): Promise<void> {
  const life = lifeFrom(issue)
  if (life.resolved === null && life.ignored === null) return
  const added = await addedCounts(tx, issue)
  const uncounted = await uncountedEvents(tx, merged.groupIds)
  const newestEvents = await newestArrived(tx, merged.groupIds, MAX_EVENTS)
  const missed = arrivedSince(
    newestEvents.filter(({ eventId }) => !uncounted.has(eventId)),
    merged.since,
    added.events,
  )
  const [newest] = missed
  if (newest === undefined) return
  const events = missed.map(({ eventId, release, occurredAt, receivedAt }) => ({
    eventId,
    release,
    occurredAt,
    happenedAt: occurredAt > receivedAt ? receivedAt : occurredAt,
  }))
  const step = onEvents(
    life,
    {
      events,
      newUsers: Array.from({ length: Math.min(added.users, MAX_USERS) }, () => newest.occurredAt),
      releases: await releasesOf(tx, issue, events),
    },
    context.at,
  )
  if (step.life === life) return
  await writeLives(tx, [{ id: issue.id, life: step.life, severity: null }])
  const about = { orgId, projectId: issue.project_id, issueId: issue.id }
  await recordFacts(
    tx,
    context,
    step.facts.map((fact) => ({ ...about, ...fact })),
  )
}

/**
 * Which of these events an issue missed while it was merged: those received since then, and of those received before the
 * last ones that were still in the spool.
 * @param count the number of events added to the issue while it was merged
 */
function arrivedSince(newest: readonly Arrived[], since: Date, count: number): Arrived[] {
  const isAfter = ({ receivedAt }: Arrived): boolean => receivedAt.getTime() > since.getTime()
  const after = newest.filter(isAfter)
  const spooled = newest
    .filter((event) => !isAfter(event))
    .sort((a, b) => b.receivedAt.getTime() - a.receivedAt.getTime())
    .slice(0, Math.max(count - after.length, 0))
  const missed = new Set([...after, ...spooled])
  return newest.filter((event) => missed.has(event))
}

/** The number of events and users added to an issue while it was merged. */
async function addedCounts(tx: Tx, issue: LockedIssue): Promise<{ events: number; users: number }> {
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
  const seen = events.flatMap(({ release }) => release ?? [])
  return releasesByVersion(tx, issue.project_id, [...new Set([...versionsIn(resolved.fix), ...seen])])
}
