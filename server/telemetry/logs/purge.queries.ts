import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

export const ENTRY_TABLES = ['logs', 'trace_metrics'] as const

export const ENTRY_ROWS = [
  ownRows('log_counts', 'project_id', 'minute', 'received_day', 'level'),
  ownRows('logs', 'occurred_at', 'id', 'received_day'),
  ownRows('trace_metrics', 'occurred_at', 'id', 'received_day'),
]
export const ENTRY_PART = projectPart(2_000, ENTRY_ROWS)

/** Attributes of SDKs and of OpenTelemetry that name a user. */
const USER_ATTRIBUTES = [
  'user.id',
  'user.name',
  'user.email',
  'user.username',
  'user.ip_address',
  'enduser.id',
  'client.address',
]

/** The statement reads every entry of a day, which takes longer than the usual limit. */
const ERASE_TIMEOUT_MS = 300_000

/** Deletes entries of a project and day that name one of these users in an attribute. @returns number deleted */
export async function deleteEntriesOfUser(
  tx: Tx,
  table: (typeof ENTRY_TABLES)[number],
  day: string,
  projectId: string,
  userKeys: readonly string[],
  max: number,
): Promise<number> {
  await sql`select set_config('statement_timeout', ${String(ERASE_TIMEOUT_MS)}, true)`.execute(tx)
  // One day only: a ctid is valid within one partition.
  const deletion = sql`
    delete from ${sql.table(table)} where received_day = ${day}::date and ctid = any(array(
      select ctid from ${sql.table(table)} where received_day = ${day}::date and project_id = ${projectId} and exists (
        select from unnest(${USER_ATTRIBUTES}::text[]) name
        where attributes #>> array[name, 'value'] = any(${[...userKeys]}::text[])
      ) limit ${max}
    ))`
  if (table === 'trace_metrics') return Number((await deletion.execute(tx)).numAffectedRows ?? 0)
  const { rows } = await sql<{ n: number }>`
    with gone as (${deletion} returning date_trunc('minute', occurred_at, 'UTC') as minute, level),
    sums as (select minute, level, count(*) as n from gone group by 1, 2),
    less as (
      update log_counts c set entries = greatest(0, c.entries - s.n) from sums s
      where c.project_id = ${projectId} and c.minute = s.minute and c.received_day = ${day}::date and c.level = s.level
    )
    select count(*)::int as n from gone`.execute(tx)
  return rows[0]?.n ?? 0
}
