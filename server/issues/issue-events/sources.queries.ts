import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'

const MAX_MINUTES = 50_000

/** The minute since which a project received about this number of events; null when it has none. */
export async function sinceEvents(on: Connection, projectId: string, events: number): Promise<Date | null> {
  const { rows } = await sql<{ since: Date | null }>`
    select min(minute) as since from (
      select minute, sum(events) over (order by minute desc) - events as newer
      from (select minute, events from project_minutes where project_id = ${projectId} order by minute desc limit ${MAX_MINUTES}) m
    ) counted where newer < ${events}`.execute(on)
  return rows[0]?.since ?? null
}

const SLOT_MS = 5_000

/** Ids of a project's issues with events since a time, last seen first. */
export async function issuesSeenSince(on: Connection, projectId: string, since: Date, max: number): Promise<string[]> {
  const rows = await on
    .selectFrom('issues')
    .select('id')
    .where('project_id', '=', projectId)
    .where('last_seen', '>=', since)
    // The index holds last_seen, rounded down to five seconds.
    .where('seen_slot', '>=', new Date(since.getTime() - SLOT_MS))
    .orderBy('seen_slot', 'desc')
    .orderBy('last_seen', 'desc')
    .limit(max)
    .execute()
  return rows.map(({ id }) => id)
}

export type NewestEvent = { readonly eventId: string; readonly issueId: string; readonly occurredAt: Date }

/** The newest event of each group whose newest event is of this release, newest first; of issues seen since a time. */
export async function newestOfGroups(
  on: Connection,
  projectId: string,
  release: string,
  { since, max }: { readonly since: Date; readonly max: number },
): Promise<NewestEvent[]> {
  const { rows } = await sql<NewestEvent>`
    select replace(g.last_event_id::text, '-', '') as "eventId", g.issue_id as "issueId", g.last_seen as "occurredAt"
    from issues i join issue_groups g on g.issue_id = i.id
    where i.project_id = ${projectId} and i.seen_slot >= ${new Date(since.getTime() - SLOT_MS)} and g.last_seen >= ${since}
      and g.last_release = ${release} and g.last_event_id is not null
    order by g.last_seen desc, g.id desc limit ${max}`.execute(on)
  return rows
}

/** Events of an issue by hour and group, `to` excluded. */
export const selectHours = (on: Connection, issueId: string, from: Date, to: Date) =>
  on
    .selectFrom('issue_groups as g')
    .innerJoin('issue_hours as h', 'h.group_id', 'g.id')
    .select(['h.hour', 'h.events'])
    .where('g.issue_id', '=', issueId)
    .where('h.hour', '>=', from)
    .where('h.hour', '<', to)
    .execute()
