import type { Connection, Tx } from '../../platform/storage/database.ts'

/** SQL of renewing texts of issues. */

/** A group with the event that its texts come from. */
export type GroupTexts = {
  readonly groupId: string
  /** The issue that shows the group. */
  readonly issueId: string
  readonly eventId: string
  readonly lastSeen: Date
  readonly title: string
  readonly culprit: string
  readonly errorType: string | null
  readonly errorValue: string | null
}

/** The groups that issues show, each with its newest event. */
export async function selectGroupTexts(db: Connection, issueIds: readonly string[]): Promise<GroupTexts[]> {
  const { rows } = await db.query<GroupTexts>(
    `select id as "groupId", issue_id as "issueId", replace(last_event_id::text, '-', '') as "eventId", last_seen as "lastSeen",
       title, culprit, error_type as "errorType", error_value as "errorValue"
     from issue_groups where issue_id = any($1::uuid[]) and last_event_id is not null`,
    [issueIds],
  )
  return rows
}

/**
 * Sets the texts of groups whose newest event is still the one that they were read from, and of the issues that these
 * groups belong to. The caller has locked the relation of the project.
 * @returns the ids of the groups that changed
 */
export async function updateGroupTexts(tx: Tx, groups: readonly GroupTexts[]): Promise<Set<string>> {
  const of = <T>(pick: (group: GroupTexts) => T): T[] => groups.map(pick)
  const { rows } = await tx.query<{ id: string }>(
    `with renewed as (
       update issue_groups g set title = k.title, culprit = k.culprit, error_type = k.error_type, error_value = k.error_value
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
         k (id, event_id, title, culprit, error_type, error_value)
       where g.id = k.id and g.last_event_id = k.event_id
       returning g.*
     ), shown as (
       update issues i set title = r.title, culprit = r.culprit, error_type = r.error_type, error_value = r.error_value
       from renewed r where i.id = r.id and r.issue_id = r.id
     )
     select id from renewed`,
    [
      of((one) => one.groupId),
      of((one) => one.eventId),
      of((one) => one.title),
      of((one) => one.culprit),
      of((one) => one.errorType),
      of((one) => one.errorValue),
    ],
  )
  return new Set(rows.map(({ id }) => id))
}
