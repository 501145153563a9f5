import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { dropDaysBefore, partitionDays } from '../storage/day-partitions.ts'
import { oldestDay } from '../projects/general-settings.ts'
import { selectAllSettings } from '../projects/projects.queries.ts'
import { deletePackingsBefore } from './pack.queries.ts'
import { UNIQUE_DAYS } from './event.ts'
import { deleteEventsOfDay, issuesOfDay } from './store.queries.ts'

/** Events that go in one transaction: digestion and questions come between. */
const PIECE = 2_000

export type PurgedEvents = { readonly days: number; readonly events: number }

/**
 * Drops days of events, bodies included, that are older than the longest retention any project has; then, from the days
 * that stay, what is older than its own project keeps. Issues, their counts and rollups stay, and so do
 * the last days in which an event's id is looked for: an event that is sent again must not count twice.
 * @param signal ends it between two batches; the next run continues
 */
export async function purgeEvents(app: App, signal: AbortSignal): Promise<PurgedEvents> {
  const projects = await selectAllSettings(app.db)
  const now = app.clock.now()
  const kept = projects.map(({ id, settings }) => ({
    id,
    oldest: earlier(oldestDay(settings, now), dayPlus(dayOf(now), -UNIQUE_DAYS)),
  }))
  const [first, ...others] = kept.map(({ oldest }) => oldest)
  // Without projects there is no retention setting.
  if (first === undefined) return { days: 0, events: 0 }
  const oldest = others.reduce(earlier, first)
  const days = await dropDaysBefore(app.db, ['events', 'event_blocks'], oldest)
  await deletePackingsBefore(app.db, oldest)
  let events = 0
  for (const day of await partitionDays(app.db, 'events'))
    for (const project of kept) {
      if (day >= project.oldest) continue
      for (const issueIds of inPieces(await issuesOfDay(app.db, project.id, day))) {
        let removed = 0
        do {
          if (signal.aborted) return { days, events }
          removed = await app.tx((tx) => deleteEventsOfDay(tx, issueIds, day, PIECE))
          events += removed
        } while (removed === PIECE)
      }
    }
  return { days, events }
}

/** Issues of about a piece together, or one with more by itself: a search from the start for each batch would cost the square of the day. */
function* inPieces(issues: readonly { readonly issueId: string; readonly events: number }[]): Generator<string[]> {
  let [piece, size]: [string[], number] = [[], 0]
  for (const { issueId, events } of issues) {
    if (piece.length > 0 && size + events > PIECE) {
      yield piece
      ;[piece, size] = [[], 0]
    }
    piece.push(issueId)
    size += events
  }
  if (piece.length > 0) yield piece
}

const earlier = (a: string, b: string): string => (a < b ? a : b)

/** Once a day, while few are awake. */
export const purgeEventsTask = defineTask({
  name: 'purge-events',
  payload: NoPayload,
  cron: '51 3 * * *',
  async run(app, _payload, signal) {
    const removed = await purgeEvents(app, signal)
    if (removed.days + removed.events > 0) app.log.info(removed, 'events beyond their retention are gone')
  },
})
