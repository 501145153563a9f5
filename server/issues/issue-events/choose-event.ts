import type { App } from '../../platform/context/app.ts'
import type { StoredEvent } from '../../events/store/event.ts'
import { lookAtEvents, type EventSources, type EventSpot } from '../../events/store/event-places.queries.ts'
import { readEvents } from '../../events/store/store.queries.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import { isUnfiltered, type EventFilter } from './event-filter.ts'
import { findEvents } from './find-events.ts'
import { storedBodies } from './open-event.ts'
import type { Event, Frame } from '../../events/protocol/event.api.ts'

/** The most complete event is chosen among this number of newest events. */
const MAX_COMPARED = 50

type Scope = { readonly projectId: string; readonly sources: EventSources; readonly filter: EventFilter }

/**
 * One event of an issue; null when no event passes the filter.
 * @param which `latest`, `oldest`, `most_complete` or an event id, which need not pass the filter
 * @throws AppError not_found when the id is not of an event of the issue
 */
export async function chooseEvent(app: App, scope: Scope, which: string): Promise<StoredEvent | null> {
  if (which === 'latest') return edge(app, scope, 'older')
  if (which === 'oldest') return edge(app, scope, 'newer')
  if (which === 'most_complete') {
    const { events } = await findEvents(app, { ...scope, direction: 'older', from: null, limit: MAX_COMPARED })
    let best: { eventId: string; receivedDay: string; score: number } | null = null
    for (const { facts, event } of events) {
      const score = event === null ? -1 : scoreCompleteness(event)
      // The first of equal ones is the newest.
      if (best === null || score > best.score) best = { ...facts, score }
    }
    return best === null ? null : bodyOf(app, scope, best)
  }
  return eventById(app, scope.projectId, scope.sources, which)
}

/**
 * One event of these issues, by its id. Ids are unique for some days only: the newest of several is returned.
 * @throws AppError not_found
 */
export async function eventById(
  app: App,
  projectId: string,
  { issueIds, oldestDay }: EventSources,
  id: string,
): Promise<StoredEvent> {
  const eventId = eventIdFrom(id)
  const stored = eventId === null ? [] : await readEvents(app.db, projectId, [eventId], null)
  const [own] = stored
    .filter((event) => issueIds.includes(event.issueId) && utcDay(event.receivedAt) >= oldestDay)
    .toSorted((a, b) => b.receivedAt.getTime() - a.receivedAt.getTime())
  if (own === undefined) throw notFound('Event')
  return own
}

async function edge(app: App, scope: Scope, direction: 'older' | 'newer'): Promise<StoredEvent | null> {
  const spot = await nextId(app, scope, direction, null)
  return spot === null ? null : bodyOf(app, scope, spot)
}

const bodyOf = async (
  app: App,
  { projectId }: Scope,
  place: { eventId: string; receivedDay: string },
): Promise<StoredEvent | null> => (await storedBodies(app, projectId, [place])).get(place.eventId) ?? null

/** The nearest event beyond `from` that passes the filter. */
async function nextId(app: App, scope: Scope, direction: 'older' | 'newer', from: EventSpot | null) {
  if (isUnfiltered(scope.filter)) {
    const [next] = await lookAtEvents(app.db, scope.sources, { direction, from, max: 1 })
    return next ?? null
  }
  const { events } = await findEvents(app, { ...scope, direction, from, limit: 1 })
  return events[0]?.facts ?? null
}

type Neighbours = { latest: string | null; oldest: string | null; newer: string | null; older: string | null }

/**
 * Ids of the neighbours of an event, in the order of occurrence, among the events that pass the filter.
 * @param newest the newest events of the issue, when the caller has read them: they save queries
 */
export async function findNeighbours(
  app: App,
  scope: Scope,
  event: StoredEvent | null,
  newest: readonly StoredEvent[] = [],
): Promise<Neighbours> {
  const known = isUnfiltered(scope.filter) ? newest : []
  const at = event === null ? -1 : known.findIndex(({ eventId }) => eventId === event.eventId)
  const [latest, oldest, newer, older] = await Promise.all([
    known[0] ?? nextId(app, scope, 'older', null),
    nextId(app, scope, 'newer', null),
    event === null || at === 0 ? null : (known[at - 1] ?? nextId(app, scope, 'newer', event)),
    event === null ? null : (known[at === -1 ? known.length : at + 1] ?? nextId(app, scope, 'older', event)),
  ])
  return {
    latest: latest?.eventId ?? null,
    oldest: oldest?.eventId ?? null,
    newer: newer?.eventId ?? null,
    older: older?.eventId ?? null,
  }
}

/** How much information an event has. Pure. */

/** Further breadcrumbs, frames and tags do not raise the score. */
const MAX_CRUMBS = 50
const MAX_FRAMES = 60
const MAX_TAGS = 20

/**
 * A score to compare the events of one issue. Readable frames count most, then source lines, breadcrumbs, contexts, the
 * user and the request.
 */
function scoreCompleteness(event: Event): number {
  const frames = [
    ...event.exceptions.flatMap(({ stacktrace }) => stacktrace?.frames ?? []),
    ...event.threads.flatMap(({ stacktrace }) => stacktrace?.frames ?? []),
  ].slice(0, MAX_FRAMES)
  return (
    2 * frames.filter(isReadable).length +
    frames.filter(({ context_line }) => context_line !== null).length +
    Math.min(MAX_CRUMBS, event.breadcrumbs.length) +
    3 * Object.keys(event.contexts).length +
    0.5 * Math.min(MAX_TAGS, event.tags.length) +
    (event.user === null ? 0 : 5) +
    (event.request === null ? 0 : 5) +
    (Object.keys(event.extra).length > 0 ? 3 : 0)
  )
}

/** A frame with the name of a function and its place. */
const isReadable = ({ function: name, filename, module, lineno }: Frame): boolean =>
  name !== null &&
  !/^(0x[0-9a-f]+|<redacted>|<unknown>)$/i.test(name) &&
  (lineno !== null || filename !== null || module !== null)
