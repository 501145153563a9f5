import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { countReleases, countUsers } from '../../events/store/event-places.queries.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { eventSources } from './event-sources.ts'
import { viewUser } from './list-events.ts'
import { openEvents } from './open-event.ts'

/** Users and releases are counted among this number of newest events. */
const MAX_EVENTS = 5_000

/**
 * Affected users among the newest events of an issue, by their number of events.
 * @throws AppError not_found
 */
export async function listUsers(
  app: App,
  actor: OrgActor,
  { issueId, limit, offset }: { issueId: string; limit: number; offset: number },
) {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  const counted = await countUsers(app.db, await eventSources(app, issue), MAX_EVENTS, { limit, offset })
  const events = await openEvents(app, issue.project_id, counted.users)
  return {
    items: counted.users.map((user) => {
      const event = events.get(user.eventId)
      return {
        ...((event === undefined ? null : viewUser(event)) ?? { key: null, label: null }),
        events: user.events,
        first_seen: user.first.toISOString(),
        last_seen: user.last.toISOString(),
        last_event_id: user.eventId,
      }
    }),
    total: counted.distinct,
    limit,
    offset,
    next_cursor: null,
    looked_at: counted.lookedAt,
    complete: counted.lookedAt < MAX_EVENTS,
  }
}

/**
 * Releases among the newest events of an issue, the one with the newest event first.
 * @throws AppError not_found
 */
export async function listReleasesOfIssue(app: App, actor: OrgActor, issueId: string) {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  const { releases, lookedAt } = await countReleases(app.db, await eventSources(app, issue), MAX_EVENTS)
  return {
    items: releases.map((one) => ({
      release: one.release,
      events: one.events,
      share: one.events / lookedAt,
      first_seen: one.first.toISOString(),
      last_seen: one.last.toISOString(),
    })),
    looked_at: lookedAt,
    complete: lookedAt < MAX_EVENTS,
  }
}
