import { setImmediate } from 'node:timers/promises'
import { errorText } from '../../platform/kernel/errors.ts'
import type { App } from '../../platform/context/app.ts'
import { eventWithoutBody, type StoredEvent, readStoredEvent } from '../../events/store/event.ts'
import type { EventFacts } from '../../events/store/event-places.queries.ts'
import { readEventsAt } from '../../events/store/store.queries.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { makeReadable, type OwnedProject } from '../../symbols/symbolication/symbolicator.ts'

/** Parses a stored body; returns null when it is away, or damaged, which it logs: other events can be shown. */
export function openEvent(app: App, stored: StoredEvent): Event | null {
  if (stored.isAway === true) return null
  try {
    return readStoredEvent(stored)
  } catch (error) {
    app.log.warn({ event_id: stored.eventId, err: errorText(error) }, 'a stored event cannot be read')
    return null
  }
}

/** The same, with the frames that files of symbols make readable. */
export async function openReadable(app: App, project: OwnedProject, stored: StoredEvent): Promise<Event | null> {
  const event = openEvent(app, stored)
  return event === null ? null : makeReadable(app, project, event)
}

/** The same for the page of the event: one whose body is away is shown by its row. */
export async function openShown(app: App, project: OwnedProject, stored: StoredEvent): Promise<Event | null> {
  return stored.isAway === true ? eventWithoutBody(stored) : openReadable(app, project, stored)
}

/** Bodies of events of one project, by their ids; deleted events are missing. */
export async function storedBodies(
  app: App,
  projectId: string,
  places: readonly Pick<EventFacts, 'eventId' | 'receivedDay'>[],
): Promise<Map<string, StoredEvent>> {
  const stored = await readEventsAt(app.db, projectId, places)
  return new Map(stored.map((event) => [event.eventId, event]))
}

/** The same, parsed. Yields to other requests after each event. */
export async function openEvents(
  app: App,
  projectId: string,
  places: readonly Pick<EventFacts, 'eventId' | 'receivedDay'>[],
): Promise<Map<string, Event>> {
  const bodies = await storedBodies(app, projectId, places)
  const events = new Map<string, Event>()
  for (const { eventId } of places) {
    const stored = bodies.get(eventId)
    const event = stored === undefined ? null : openEvent(app, stored)
    if (event !== null) events.set(eventId, event)
    await setImmediate()
  }
  return events
}
