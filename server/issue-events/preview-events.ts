import { setImmediate } from 'node:timers/promises'
import type { App } from '../context/app.ts'
import type { StoredEvent } from '../events/event.ts'
import { readEvents, type EventPlace } from '../events/store.queries.ts'
import { rateLimited } from '../kernel/errors.ts'
import type { Event } from '../protocol/event.api.ts'
import { readStoredEvent } from '../protocol/read-stored.ts'
import { newestEventsOfProject } from './newest-events.ts'

const MAX_EVENTS = 10_000
/** Events per query; the largest take 25 MiB. */
const BATCH_SIZE = 25
/** Real time, not the App's clock: it limits the processor time that one member can use. */
const TIME_LIMIT_MS = 8_000
/** Maximum time without a turn for other requests. */
const MAX_BLOCK_MS = 5
/** Concurrent previews of this process, each of which keeps a core busy for seconds. */
const MAX_CONCURRENT = 2

let running = 0

export type PreviewLimits = { readonly maxEvents?: number; readonly timeLimitMs?: number }

type Previewed = { readonly looked_at: number; readonly of: number; readonly oldest_at: string | null }

/**
 * Visits the newest stored events of a project, for a preview of settings. Counts deleted and unreadable events as looked
 * at, but does not visit them. Other requests run meanwhile.
 * @param since visits only events that occurred at or after this time
 * @param read how to read an event
 * @throws AppError rate_limited (too many previews run)
 */
export async function previewEvents(
  app: App,
  projectId: string,
  visit: (event: Event, stored: StoredEvent, place: EventPlace) => void,
  { maxEvents = MAX_EVENTS, timeLimitMs = TIME_LIMIT_MS }: PreviewLimits,
  { since, read = readStoredEvent }: { readonly since?: Date; readonly read?: (stored: StoredEvent) => Event } = {},
): Promise<Previewed> {
  if (running >= MAX_CONCURRENT) throw rateLimited('Other previews are running. Try again in a few seconds.', 5)
  running++
  try {
    const deadlineMs = performance.now() + timeLimitMs
    const newest = await newestEventsOfProject(app, projectId, maxEvents)
    const places = since === undefined ? newest : newest.filter(({ occurredAt }) => occurredAt >= since)
    let lookedAt = 0
    let turnAtMs = performance.now()
    while (lookedAt < places.length && performance.now() < deadlineMs) {
      const batch = places.slice(lookedAt, lookedAt + BATCH_SIZE)
      const byId = new Map(batch.map((place) => [place.eventId, place]))
      const days = batch.map(({ receivedDay }) => receivedDay).sort()
      for (const stored of await readEvents(app.db, projectId, [...byId.keys()], {
        first: days[0] ?? '',
        last: days.at(-1) ?? '',
      })) {
        if (performance.now() - turnAtMs > MAX_BLOCK_MS) {
          await setImmediate()
          turnAtMs = performance.now()
        }
        const place = byId.get(stored.eventId)
        const event = tryRead(app, stored, read)
        if (place !== undefined && event !== null) visit(event, stored, place)
      }
      lookedAt += batch.length
    }
    const oldest = lookedAt === 0 ? undefined : places[lookedAt - 1]
    return { looked_at: lookedAt, of: places.length, oldest_at: oldest?.occurredAt.toISOString() ?? null }
  } finally {
    running--
  }
}

function tryRead(app: App, stored: StoredEvent, read: (stored: StoredEvent) => Event): Event | null {
  try {
    return read(stored)
  } catch (error) {
    app.log.warn(
      { project_id: stored.projectId, event_id: stored.eventId, err: error },
      'a stored event cannot be read',
    )
    return null
  }
}
