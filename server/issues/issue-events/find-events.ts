import type { App } from '../../platform/context/app.ts'
import {
  lookAtEvents,
  type EventFacts,
  type EventSources,
  type EventSpot,
} from '../../events/store/event-places.queries.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { isUnfiltered, type EventFilter } from './event-filter.ts'
import { openEvents } from './open-event.ts'

/** Rows that a filter reads for one page. */
export const MAX_ROWS = 2_000
/** Bodies that a filter opens for one page, and their JSON in bytes: parsing blocks this process. */
const MAX_BODIES = 200
const MAX_BODY_BYTES = 6 * 1024 * 1024
/** Bodies opened by one statement. */
const CHUNK = 25

export type Search = {
  readonly projectId: string
  readonly sources: EventSources
  readonly filter: EventFilter
  readonly direction: 'older' | 'newer'
  readonly from: EventSpot | null
  readonly limit: number
  /** JSON to read, though at least one event; default 6 MiB. */
  readonly maxBytes?: number
}

export type FoundEvent = { readonly facts: EventFacts; readonly event: Event | null }

export type Found = {
  readonly events: readonly FoundEvent[]
  /** Number of events that were read, matching or not. */
  readonly lookedAt: number
  /** Where the next page starts; null at the end. */
  readonly next: EventSpot | null
}

/** Events of an issue beyond `from` that pass the filter, nearest first. Reads a bounded number; `next` continues. */
export async function findEvents(app: App, search: Search): Promise<Found> {
  const { filter, direction, from, limit, maxBytes = MAX_BODY_BYTES } = search
  const maxRows = isUnfiltered(filter) || (filter.byFacts === null && filter.byBody === null) ? limit + 1 : MAX_ROWS
  const rows = await lookAtEvents(app.db, search.sources, {
    direction,
    from,
    since: filter.since,
    until: filter.until,
    max: maxRows,
  })
  const found: FoundEvent[] = []
  let looked = 0
  let bodies = 0
  let bytes = 0
  while (looked < rows.length && found.length < limit && bodies < MAX_BODIES && bytes < maxBytes) {
    const chunk: EventFacts[] = []
    // At most what the page and the budget still allow.
    const room = Math.min(filter.byBody === null ? limit - found.length : CHUNK, CHUNK, MAX_BODIES - bodies)
    while (looked < rows.length && chunk.length < room && (chunk.length === 0 || bytes < maxBytes)) {
      const row = rows[looked++]
      if (row === undefined || filter.byFacts?.(row) === false) continue
      chunk.push(row)
      bytes += row.sizeBytes
    }
    bodies += chunk.length
    const opened = await openEvents(app, search.projectId, chunk)
    for (const [index, facts] of chunk.entries()) {
      const event = opened.get(facts.eventId) ?? null
      if (filter.byBody !== null && (event === null || !filter.byBody(event))) continue
      found.push({ facts, event })
      if (found.length < limit) continue
      // The next page reads the rest of the chunk again.
      if (index < chunk.length - 1) looked = rows.indexOf(facts) + 1
      break
    }
  }
  const last = rows[looked - 1]
  const isEnd = looked === rows.length && rows.length < maxRows
  return { events: found, lookedAt: looked, next: isEnd || last === undefined ? null : last }
}
