import type { Tx } from '../../platform/storage/database.ts'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import { partitionName } from '../../platform/storage/day-partitions.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** SQL of events beyond the largest number that is kept of one issue and day. */

/** Ids of events that packing left out, by received day. */
export const CAPPED_TABLE = { table: 'capped_events' } as const
export const CAPPED_EVENTS = ownRows('capped_events', 'project_id', 'event_id', 'received_day')

/** A moment in the order of an issue's events: time of occurrence in µs, and id. */
type Moment = { readonly occurredUs: bigint; readonly eventId: string }

/** An issue with more events on a day than are kept. */
export type CappedIssue = {
  /** The last of its newest events that are kept. */
  readonly cutoff: Moment
  /** Its oldest event of the day, which is kept too. */
  readonly oldestId: string
}

/** Issues of a day with more than `max` events, by id. Ids are in hexadecimal digits. */
export async function selectCappedIssues(tx: Tx, day: string, max: number): Promise<Map<string, CappedIssue>> {
  const table = partitionName('events', day)
  if (!Number.isSafeInteger(max) || max < 1) throw new Error(`not a number of events: ${max}`)
  const rows = await tx.copyOut(
    `select i.issue_id, n.occurred_at, n.event_id, o.event_id
     from (select issue_id from ${table} group by issue_id having count(*) > ${max}) i
     cross join lateral (select occurred_at, event_id from ${table} e where e.issue_id = i.issue_id
                         order by occurred_at desc, event_id desc offset ${max - 1} limit 1) n
     cross join lateral (select event_id from ${table} e where e.issue_id = i.issue_id
                         order by occurred_at, event_id limit 1) o`,
    4,
  )
  return new Map(
    rows.map(([issueId, occurredAt, eventId, oldestId]) => [
      hexadecimal(issueId),
      {
        cutoff: { occurredUs: occurredAt?.readBigInt64BE() ?? 0n, eventId: hexadecimal(eventId) },
        oldestId: hexadecimal(oldestId),
      },
    ]),
  )
}

/** A field with an id. */
export const hexadecimal = (field: Buffer | null | undefined): string => field?.toString('hex') ?? ''

/** Stores the ids of events that are left out. Partitions of the day must exist. */
export async function insertCapped(
  tx: Tx,
  events: readonly { readonly day: Buffer; readonly projectId: Buffer; readonly eventId: Buffer }[],
): Promise<void> {
  if (events.length === 0) return
  const rows = new CopyRows()
  for (const { day, projectId, eventId } of events) {
    rows.row(3)
    rows.bytes(day)
    rows.bytes(projectId)
    rows.bytes(eventId)
  }
  await tx.copyIn('capped_events (received_day, project_id, event_id)', rows)
}

/** Forgets what an earlier copying of the day left out. */
export async function forgetCapped(tx: Tx, day: string): Promise<void> {
  await tx.query('delete from capped_events where received_day = $1', [day])
}
