import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { deleteRows } from '../../platform/storage/own-rows.ts'
import { dropDaysBefore, partitionDays } from '../../platform/storage/day-partitions.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { selectAllSettings } from '../../projects/registry/projects.queries.ts'
import { CAPPED_TABLE } from './capped-events.queries.ts'
import { deletePackingsBefore } from './pack.queries.ts'
import { UNIQUE_DAYS } from './event.ts'
import { EVENT_VALUES } from './event-values.queries.ts'
import { deleteEventsOfDay, issuesOfDay } from './store.queries.ts'

/** Maximum events of one transaction, so that digestion and queries do not wait long. */
const PIECE = 2_000

type PurgedEvents = { readonly days: number; readonly events: number }

/**
 * Drops days of events, with bodies, that are older than the longest retention of all projects. Then deletes events
 * older than the retention of their project. Issues, their counts and rollups stay, and so do the last {@link
 * UNIQUE_DAYS} days, because a repeated event must not count twice.
 * @param signal stops between two pieces; the next run continues
 */
export async function purgeEvents(app: App, signal: AbortSignal): Promise<PurgedEvents> {
  const projects = await selectAllSettings(app.db)
  const now = app.clock.now()
  const kept = projects.map(({ id, settings }) => ({
    id,
    oldest: earlier(oldestDay(settings, now), dayPlus(utcDay(now), -UNIQUE_DAYS)),
  }))
  const [first, ...others] = kept.map(({ oldest }) => oldest)
  // Without projects there is no retention setting.
  if (first === undefined) return { days: 0, events: 0 }
  const oldest = others.reduce(earlier, first)
  const days = await dropDaysBefore(app.db, ['events', 'event_blocks'], oldest)
  await deletePackingsBefore(app.db, oldest)
  await dropDaysBefore(app.db, [CAPPED_TABLE.table], dayPlus(utcDay(now), -UNIQUE_DAYS))
  while (
    (await app.tx((tx) => deleteRows(tx, EVENT_VALUES, { before: ['last_day', oldest] }, PIECE, 'skip'))) === PIECE
  );
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

/**
 * Groups issues up to a piece of events, with larger issues alone: searching from the start for each piece would take
 * quadratic time.
 */
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

/** Once a day, at a quiet hour. */
export const purgeEventsTask = defineTask({
  name: 'purge-events',
  payload: NoPayload,
  cron: '51 3 * * *',
  async run(app, _payload, signal) {
    const removed = await purgeEvents(app, signal)
    if (removed.days + removed.events > 0) app.log.info(removed, 'events older than their retention are deleted')
  },
})
