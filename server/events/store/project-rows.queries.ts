import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import { listPackedParts, removeParts } from './packed-bodies.queries.ts'
import { type ProjectPart, projectPart } from '../../projects/registry/project-rows.ts'
import { CAPPED_EVENTS } from './capped-events.queries.ts'
import { EVENT_VALUES } from './event-values.queries.ts'

/** Issues whose events of a day are deleted together. */
const MAX_ISSUES = 2_000

type Removed = { received_day: string; block_id: number | null; body_start: number; body_end: number }

/**
 * Deletes events of a project with their bodies: of one day, in the order of packing, so that each block is rewritten
 * seldom.
 */
async function deleteEvents(tx: Tx, projectId: string, max: number): Promise<number> {
  const { rows: places } = await sql<{ day: string; issues: string[] }>`
    select received_day as day, array_agg(distinct issue_id) as issues
    from (select received_day, issue_id from events where project_id = ${projectId} limit ${MAX_ISSUES}) chosen
    group by received_day limit 1`.execute(tx)
  const [place] = places
  if (place === undefined) return 0
  // Within one day a `ctid` is valid, and the rows are locked.
  const { rows } = await sql<Removed>`
    delete from events e where e.received_day = ${place.day}::date and e.ctid = any(array(
      select n.place from unnest(${place.issues}::uuid[]) i (id) cross join lateral (
        select ctid as place from events
        where issue_id = i.id and project_id = ${projectId} and received_day = ${place.day}::date
        order by occurred_at, event_id limit ${max} for update
      ) n limit ${max}
    )) returning e.received_day, e.block_id, e.body_start, e.body_end`.execute(tx)
  await removeParts(tx, listPackedParts(rows))
  return rows.length
}

export const EVENT_PART: ProjectPart = { tables: ['events', 'event_blocks'], max: 1_000, deleteRows: deleteEvents }
export const EVENT_VALUES_PART = projectPart(1_000, [EVENT_VALUES, CAPPED_EVENTS])
