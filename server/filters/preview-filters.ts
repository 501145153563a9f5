import { setImmediate } from 'node:timers/promises'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { readEvents, type EventPlace } from '../events/store.queries.ts'
import { newestEventsOfProject } from '../issue-events/newest-events.ts'
import { notFound, rateLimited } from '../kernel/errors.ts'
import { readStoredEvent } from '../protocol/read-stored.ts'
import type { InboundFilters } from './inbound-filters.api.ts'
import { filterSettings } from './filter-settings.ts'
import { readProject } from '../projects/projects.queries.ts'
import { compileFilters, subjectOf, type Filter, type FilterSubject } from './compile-filters.ts'
import type { FiltersPreview } from './filters.api.ts'

const MAX_EVENTS = 10_000
/** Read at once: of the largest events there are, this is 25 MiB. */
const PIECE = 25
const MAX_EXAMPLES = 5
/** Of real time, whatever the App's clock says: it bounds what one person can take from everybody. */
const TIME_LIMIT_MS = 8_000
/** How long the event loop is held at a stretch. */
const TURN_MS = 5
/** Judging ten thousand events keeps a core busy for seconds. */
const MAX_AT_ONCE = 2

export type PreviewLimits = { readonly maxEvents?: number; readonly timeLimitMs?: number }

type Tally = { readonly filter: Filter; dropped: number; readonly examples: Example[] }
type Example = FiltersPreview['filters'][number]['examples'][number]

let running = 0

/**
 * Judges the newest stored events of a project by proposed filters, without changing anything. Streams: at most
 * {@link PIECE} bodies are in memory, other requests go on meanwhile.
 * @throws AppError not_found, rate_limited (others are at it)
 */
export async function previewFilters(
  app: App,
  actor: OrgActor,
  projectId: string,
  proposed: Partial<InboundFilters>,
  { maxEvents = MAX_EVENTS, timeLimitMs = TIME_LIMIT_MS }: PreviewLimits = {},
): Promise<FiltersPreview> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  if (running >= MAX_AT_ONCE) throw rateLimited('Other previews are being made. Try again in a few seconds.', 5)
  running++
  try {
    const deadline = performance.now() + timeLimitMs
    const filters = compileFilters({ ...filterSettings(project.settings).inbound_filters, ...proposed }).ofEvents
    const places = await newestEventsOfProject(app, projectId, maxEvents)
    const tallies = filters.map((filter): Tally => ({ filter, dropped: 0, examples: [] }))
    let [lookedAt, dropped, oldest] = [0, 0, null as Date | null]
    for (let at = 0; at < places.length && performance.now() < deadline; at += PIECE) {
      const piece = places.slice(at, at + PIECE)
      // An event that is gone meanwhile, or cannot be read any more, is looked at like one nobody would drop.
      for await (const read of readPiece(app, projectId, piece)) if (judge(tallies, read)) dropped++
      lookedAt += piece.length
      oldest = piece.at(-1)?.occurredAt ?? oldest
    }
    return {
      looked_at: lookedAt,
      of: places.length,
      oldest_at: oldest?.toISOString() ?? null,
      would_drop: dropped,
      filters: tallies.map(({ filter, dropped: count, examples }) => ({
        filter: filter.reason,
        pattern: filter.pattern,
        would_drop: count,
        examples,
      })),
    }
  } finally {
    running--
  }
}

type Read = { readonly subject: FilterSubject; readonly title: string; readonly place: EventPlace }

async function* readPiece(app: App, projectId: string, piece: readonly EventPlace[]): AsyncGenerator<Read> {
  const days = piece.map(({ receivedDay }) => receivedDay).sort()
  const byId = new Map(piece.map((place) => [place.eventId, place]))
  const stored = await readEvents(app.db, projectId, [...byId.keys()], {
    first: days[0] ?? '',
    last: days.at(-1) ?? '',
  })
  let turnedAtMs = performance.now()
  for (const one of stored) {
    if (performance.now() - turnedAtMs > TURN_MS) {
      await setImmediate()
      turnedAtMs = performance.now()
    }
    const place = byId.get(one.eventId)
    if (place === undefined) continue
    try {
      // Without the connection's address, so that the one left is the client's own claim.
      const event = readStoredEvent({ ...one, clientIp: null })
      const { clientIp, userAgent } = one
      const claimedAddress = event.user?.ip_address ?? null
      yield { subject: subjectOf(event, { clientIp, userAgent, claimedAddress }), title: event.title, place }
    } catch (error) {
      app.log.warn({ project_id: one.projectId, event_id: one.eventId, err: error }, 'a stored event cannot be read')
    }
  }
}

/** Counts an event with every filter that would drop it; whether there was one. */
function judge(tallies: readonly Tally[], { subject, title, place }: Read): boolean {
  let dropped = false
  for (const tally of tallies) {
    if (!tally.filter.drops(subject)) continue
    dropped = true
    tally.dropped++
    if (tally.examples.length < MAX_EXAMPLES)
      tally.examples.push({ issue_id: place.issueId, event_id: place.eventId, title })
  }
  return dropped
}
