import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import {
  countEvents,
  lookAtEvents,
  type EventSources,
  type EventSpot,
} from '../../events/store/event-places.queries.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import { wrongCursor } from '../../platform/kernel/cursor.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import { TOTAL_CAP, type Page } from '../../platform/kernel/page.api.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { eventDevice, eventOs, userLabel } from './dimensions.ts'
import { eventFilter, isUnfiltered, type EventQuery } from './event-filter.ts'
import { eventSources } from './event-sources.ts'
import { findEvents, type FoundEvent } from './find-events.ts'
import type { EventRow } from './issue-events.api.ts'

/**
 * Stored events of an issue under a filter, newest first.
 * @throws AppError not_found, invalid (cursor, tag, times)
 */
export async function listEvents(
  app: App,
  actor: OrgActor,
  input: EventQuery & { issueId: string; limit: number; offset: number; cursor?: string | undefined },
): Promise<Page<EventRow> & { looked_at: number }> {
  const issue = await selectIssue(app.db, actor, input.issueId)
  if (issue === undefined) throw notFound('Issue')
  const filter = eventFilter(issue.project_id, input)
  const sources = await eventSources(app, issue)
  const all = isUnfiltered(filter)
  if (input.offset > 0 && input.cursor !== undefined) throw invalid('Send either cursor or offset, not both.')
  if (input.offset > 0 && !all) throw invalid('offset cannot be combined with filters; use cursor.')
  const from = input.cursor === undefined ? await spotAt(app, sources, input.offset) : spotFrom(input.cursor)
  const [found, stored] = await Promise.all([
    findEvents(app, { projectId: issue.project_id, sources, filter, direction: 'older', from, limit: input.limit }),
    all ? countEvents(app.db, sources, TOTAL_CAP + 1) : 0,
  ])
  const total = all ? Math.min(stored, TOTAL_CAP) : found.events.length
  const isMore = all ? stored > TOTAL_CAP : found.next !== null || from !== null
  return {
    items: found.events.map(viewRow),
    total,
    ...(isMore ? { total_capped: true as const } : {}),
    limit: input.limit,
    offset: input.offset,
    next_cursor: found.next === null ? null : cursorOf(found.next),
    looked_at: found.lookedAt,
  }
}

/** The event before the page that starts at `offset`; null for the first page. */
async function spotAt(app: App, sources: EventSources, offset: number): Promise<EventSpot | null> {
  if (offset === 0) return null
  const skipped = await lookAtEvents(app.db, sources, { direction: 'older', from: null, max: offset })
  return skipped.at(-1) ?? null
}

export const viewRow = ({ facts, event }: FoundEvent): EventRow => ({
  event_id: facts.eventId,
  occurred_at: facts.occurredAt.toISOString(),
  received_at: facts.receivedAt.toISOString(),
  title: event?.title ?? null,
  level: facts.level,
  release: facts.release,
  environment: facts.environment,
  user: event === null ? null : viewUser(event),
  device: event === null ? null : eventDevice(event),
  os: event === null ? null : eventOs(event),
  is_unhandled: event?.is_unhandled ?? false,
  tags: event?.tags ?? [],
})

/** The user of an event; `key` is what affected users are counted by (`userHash` of ingest/digest/prepare-event.ts). */
export function viewUser(event: Event): { key: string | null; label: string | null } | null {
  const { user } = event
  if (user === null) return null
  const key = user.id ?? user.username ?? user.email ?? user.ip_address
  const label = userLabel(event)
  return key === null && label === null ? null : { key, label }
}

const cursorOf = ({ occurredAt, eventId }: EventSpot): string => `${occurredAt.getTime()}-${eventId}`

function spotFrom(cursor: string): EventSpot {
  const [, time = '', id = ''] = /^(\d{1,15})-([0-9a-f]{32})$/.exec(cursor) ?? []
  const occurredAt = new Date(Number(time))
  const eventId = eventIdFrom(id)
  if (eventId === null || Number.isNaN(occurredAt.getTime())) throw wrongCursor()
  return { occurredAt, eventId }
}
