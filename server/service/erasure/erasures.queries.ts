import { sql, type Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** SQL of the table of erasures; recent-erasures.queries.ts reads it too. */

export type ErasureRow = Selectable<Tables['erasures']>

/** Starts an erasure, or restarts it so that it covers data received since. */
export async function startErasure(
  tx: Tx,
  row: { id: string; project_id: string; org_id: string; user_hash: number; user_key_sealed: string; now: Date },
): Promise<ErasureRow> {
  const { now, ...fields } = row
  return tx
    .insertInto('erasures')
    .values({ ...fields, state: 'running', requested_at: now })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'user_hash']).doUpdateSet({
        user_key_sealed: fields.user_key_sealed,
        requested_at: now,
        finished_at: null,
        // A running erasure keeps its counts, a finished one starts from zero.
        erased: sql`case when erasures.state = 'running' then erasures.erased else '{}'::jsonb end`,
        state: 'running',
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

export const readErasure = (db: Connection, id: string): Promise<ErasureRow | undefined> =>
  db.selectFrom('erasures').selectAll().where('id', '=', id).executeTakeFirst()

/** Adds to the counts of an erasure, in the transaction that erased the rows. */
export async function countErased(db: Connection, id: string, counts: Readonly<Record<string, number>>): Promise<void> {
  const some = Object.entries(counts).filter(([, count]) => count > 0)
  for (const [kind, count] of some)
    await sql`update erasures set erased = jsonb_set(erased, array[${kind}::text], to_jsonb(coalesce((erased ->> ${kind}::text)::bigint, 0) + ${count}::bigint))
              where id = ${id}`.execute(db)
}

/** Finishes an erasure and deletes the user's id. */
export async function finishErasure(db: Connection, id: string, now: Date): Promise<void> {
  await db
    .updateTable('erasures')
    .set({ state: 'done', finished_at: now, user_key_sealed: null })
    .where('id', '=', id)
    .execute()
}

/** Ids of running erasures, oldest first. */
export async function runningErasures(db: Connection): Promise<string[]> {
  const rows = await db
    .selectFrom('erasures')
    .select('id')
    .where('state', '=', 'running')
    .orderBy('requested_at')
    .limit(100)
    .execute()
  return rows.map(({ id }) => id)
}

export async function deleteFinishedErasures(db: Connection, finishedBefore: Date): Promise<void> {
  await db.deleteFrom('erasures').where('state', '=', 'done').where('finished_at', '<', finishedBefore).execute()
}

export const ERASURE_PART = projectPart(1_000, [ownRows('erasures')])
