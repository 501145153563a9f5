import { sql } from 'kysely'
import type { App } from '../context/app.ts'
import { newestPlaces, type EventPlace } from '../events/store.ts'
import { oldestDay } from '../projects/general-settings.ts'

const MOST_MINUTES = 50_000
const SLOT_MS = 5_000

/**
 * Where the newest events a project keeps lie, by their own time, newest first. Costs a look at the minutes they
 * fill and at the issues they belong to, whatever else is stored.
 */
export async function newestEventsOfProject(app: App, projectId: string, limit: number): Promise<EventPlace[]> {
  const { db } = app
  const { rows } = await sql<{ since: Date | null }>`
    select min(minute) as since from (
      select minute, sum(events) over (order by minute desc) - events as newer
      from (select minute, events from project_minutes where project_id = ${projectId} order by minute desc limit ${MOST_MINUTES}) m
    ) counted where newer < ${limit}`.execute(db)
  const since = rows[0]?.since ?? null
  if (since === null) return []
  const issues = await db
    .selectFrom('issues')
    .select('id')
    .where('project_id', '=', projectId)
    .where('last_seen', '>=', since)
    // The index holds the beginning of the five seconds it was seen in last.
    .where('seen_slot', '>=', new Date(since.getTime() - SLOT_MS))
    .orderBy('seen_slot', 'desc')
    .orderBy('last_seen', 'desc')
    .limit(limit)
    .execute()
  const project = await db.selectFrom('projects').select('settings').where('id', '=', projectId).executeTakeFirst()
  const ids = issues.map(({ id }) => id)
  // Events of merged issues stay filed where they were.
  const hidden =
    ids.length === 0 ? [] : await db.selectFrom('issues').select('id').where('merged_into', 'in', ids).execute()
  return newestPlaces(db, [...new Set([...ids, ...hidden.map(({ id }) => id)])], {
    since,
    oldestDay: oldestDay(project?.settings, app.clock.now()),
    limit,
  })
}
