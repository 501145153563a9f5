import { sql } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'

export type Used = {
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costMicros: number
}

/** Creates the row of a day where it is missing and locks it: calls of an organisation are reserved one after the other. */
export async function lockDay(tx: Tx, orgId: string, day: string, minute: Date) {
  await tx
    .insertInto('assistant_usage')
    .values({ org_id: orgId, day, minute })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return tx
    .selectFrom('assistant_usage')
    .select(['minute', 'minute_requests', 'input_tokens', 'output_tokens', 'cost_micros'])
    .where('org_id', '=', orgId)
    .where('day', '=', day)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

/** Sums of the days from `from` to `to`, both included. */
export async function selectUsed(db: Connection, orgId: string, from: string, to: string): Promise<Used> {
  const row = await db
    .selectFrom('assistant_usage')
    .select([
      sql<number>`coalesce(sum(requests), 0)::float8`.as('requests'),
      sql<number>`coalesce(sum(input_tokens), 0)::float8`.as('inputTokens'),
      sql<number>`coalesce(sum(output_tokens), 0)::float8`.as('outputTokens'),
      sql<number>`coalesce(sum(cost_micros), 0)::float8`.as('costMicros'),
    ])
    .where('org_id', '=', orgId)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .executeTakeFirstOrThrow()
  return row
}

/** Adds to a day; negative numbers give back what was reserved and not used. */
export const addUsed = (
  db: Connection,
  orgId: string,
  day: string,
  { inputTokens, outputTokens, costMicros }: Omit<Used, 'requests'>,
) =>
  db
    .updateTable('assistant_usage')
    .set({
      input_tokens: sql`input_tokens + ${inputTokens}::bigint`,
      output_tokens: sql`output_tokens + ${outputTokens}::bigint`,
      cost_micros: sql`cost_micros + ${costMicros}::bigint`,
    })
    .where('org_id', '=', orgId)
    .where('day', '=', day)
    .execute()

/** Counts a request of a day and of a minute. */
export const addRequest = (tx: Tx, orgId: string, day: string, minute: Date, minuteRequests: number) =>
  tx
    .updateTable('assistant_usage')
    .set({ requests: sql`requests + 1`, minute, minute_requests: minuteRequests })
    .where('org_id', '=', orgId)
    .where('day', '=', day)
    .execute()
