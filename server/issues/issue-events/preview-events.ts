import type { App } from '../../platform/context/app.ts'
import { eventForThread, type StoredEvent } from '../../events/store/event.ts'
import { readEvents, type EventPlace } from '../../events/store/store.queries.ts'
import { unavailable } from '../../platform/kernel/errors.ts'
import { type Ask, inThread } from '../../platform/kernel/thread-task.ts'
import { newestEventsOfProject } from './newest-events.ts'
import type { PreviewAnswer, PreviewedEvent, PreviewRequest } from './serve-preview.ts'

const MAX_EVENTS = 10_000
/** Events per query; the largest take 25 MiB. */
const BATCH_SIZE = 25
/** Real time, not the App's clock: it limits the processor time that one member can use. */
const TIME_LIMIT_MS = 8_000
/** Time that a thread may take beyond its preview's limit: for its start, and the batch at the limit. */
const GRACE_MS = 4_000

export type PreviewLimits = {
  readonly maxEvents?: number
  readonly timeLimitMs?: number
  /** Time that the thread may take beyond the limit, see {@link GRACE_MS}. */
  readonly graceMs?: number
  /** Only events that occurred at or after this time. */
  readonly since?: Date
}

type Previewed = { readonly looked_at: number; readonly of: number; readonly oldest_at: string | null }

/**
 * Visits the newest stored events of a project, for a preview of settings, in a thread of its own, whose file calls
 * `servePreview`. Counts deleted and unreadable events as looked at, but does not visit them.
 * @param start what it gets first
 * @throws AppError rate_limited (too many previews run or wait), unavailable (it does not come back)
 */
export async function previewInThread<Start, Result>(
  app: App,
  { orgId, projectId }: { readonly orgId: string; readonly projectId: string },
  file: URL,
  start: Start,
  limits: PreviewLimits,
): Promise<Previewed & { readonly result: Result }> {
  return inPreviewThread<Start, Result, Previewed & { readonly result: Result }>(orgId, file, limits, async (ask) => {
    await ask({ start })
    const previewed = await readBatches(app, projectId, limits, async (batch) => {
      await visitInThread(app, ask, batch)
    })
    const { result } = await ask({ end: true })
    if (result === null) throw new Error('a preview without a result')
    return { ...previewed, result }
  })
}

/** A thread for a preview. @throws AppError as above */
export const inPreviewThread = <Start, Result, T>(
  orgId: string,
  file: URL,
  { timeLimitMs = TIME_LIMIT_MS, graceMs = GRACE_MS }: PreviewLimits,
  work: (ask: Ask<PreviewRequest<Start>, PreviewAnswer<Result>>) => Promise<T>,
): Promise<T> =>
  inThread(
    orgId,
    file,
    {
      cpuLimitMs: timeLimitMs + graceMs,
      onLimit: () => unavailable('The dry run took too long. Use fewer or simpler patterns, then try again.'),
    },
    work,
  )

/** Has the thread visit events; logs those that it cannot read. */
export async function visitInThread<Start, Result>(
  app: App,
  ask: Ask<PreviewRequest<Start>, PreviewAnswer<Result>>,
  batch: readonly { readonly stored: StoredEvent; readonly place: Pick<EventPlace, 'issueId'> }[],
): Promise<void> {
  const events = batch.map(({ stored, place }): PreviewedEvent => ({
    stored: eventForThread(stored),
    issueId: place.issueId,
  }))
  const { unreadable } = await ask({ events })
  for (const { stored, place } of batch)
    if (unreadable.includes(stored.eventId)) logUnreadable(app, stored, `of issue ${place.issueId}`)
}

/** Reads the newest events of a project, batch by batch, until the limits are reached. */
async function readBatches(
  app: App,
  projectId: string,
  { maxEvents = MAX_EVENTS, timeLimitMs = TIME_LIMIT_MS, since }: PreviewLimits,
  visit: (batch: readonly { readonly stored: StoredEvent; readonly place: EventPlace }[]) => Promise<void>,
): Promise<Previewed> {
  const deadlineMs = performance.now() + timeLimitMs
  const newest = await newestEventsOfProject(app, projectId, maxEvents)
  const places = since === undefined ? newest : newest.filter(({ occurredAt }) => occurredAt >= since)
  let lookedAt = 0
  while (lookedAt < places.length && performance.now() < deadlineMs) {
    const batch = places.slice(lookedAt, lookedAt + BATCH_SIZE)
    const byId = new Map(batch.map((place) => [place.eventId, place]))
    const days = batch.map(({ receivedDay }) => receivedDay).sort()
    const events = await readEvents(app.db, projectId, [...byId.keys()], {
      first: days[0] ?? '',
      last: days.at(-1) ?? '',
    })
    await visit(
      events.flatMap((stored) => {
        const place = byId.get(stored.eventId)
        return place === undefined ? [] : [{ stored, place }]
      }),
    )
    lookedAt += batch.length
  }
  const oldest = lookedAt === 0 ? undefined : places[lookedAt - 1]
  return { looked_at: lookedAt, of: places.length, oldest_at: oldest?.occurredAt.toISOString() ?? null }
}

const logUnreadable = (app: App, { projectId, eventId }: StoredEvent, error: unknown): void =>
  app.log.warn({ project_id: projectId, event_id: eventId, err: error }, 'a stored event cannot be read')
