import { sql, type Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

export type OperationRow = Selectable<Tables['operations']>

export async function insertOperation(
  tx: Tx,
  row: Pick<OperationRow, 'id' | 'org_id' | 'project_id' | 'label' | 'created_at'>,
): Promise<OperationRow> {
  return tx
    .insertInto('operations')
    .values({ ...row, kind: 'project.delete', state: 'running' })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export const readOperation = (db: Connection, id: string): Promise<OperationRow | undefined> =>
  db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst()

/** Ids of running operations, oldest first. */
export async function runningOperations(db: Connection): Promise<string[]> {
  const rows = await db
    .selectFrom('operations')
    .select('id')
    .where('state', '=', 'running')
    .orderBy('created_at')
    .limit(100)
    .execute()
  return rows.map(({ id }) => id)
}

/** Adds to the progress of an operation, in the transaction that deleted the rows. */
export async function countDeleted(tx: Tx, id: string, rows: number): Promise<void> {
  await sql`update operations set rows_deleted = rows_deleted + ${rows} where id = ${id}`.execute(tx)
}

export async function setPartsDone(db: Connection, id: string, parts: number): Promise<void> {
  await sql`update operations set parts_done = greatest(parts_done, ${parts}) where id = ${id}`.execute(db)
}

/** Notes which transactions may have read the project before it was deleted: those that began before this call. */
export async function noteHorizon(db: Connection, id: string): Promise<void> {
  await sql`update operations set horizon = pg_snapshot_xmax(pg_current_snapshot())::text::bigint
            where id = ${id} and horizon is null`.execute(db)
}

/**
 * Whether all transactions that may have read the project before it was deleted have ended. A transaction without an id
 * yet is known by its snapshot.
 */
export async function isHorizonPassed(db: Connection, id: string): Promise<boolean> {
  const { rows } = await sql<{ passed: boolean }>`
    select pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= o.horizon and not exists (
      select from pg_stat_activity a
      where a.datname = current_database() and a.backend_type = 'client backend' and a.backend_xmin is not null
        and age(a.backend_xmin) > age(o.horizon::text::xid8::xid)
    ) as passed from operations o where o.id = ${id} and o.horizon is not null`.execute(db)
  return rows[0]?.passed === true
}

export async function finishOperation(tx: Tx, id: string, now: Date): Promise<void> {
  await tx
    .updateTable('operations')
    .set({ state: 'done', finished_at: now })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute()
}

export async function deleteOperations(db: Connection, before: Date): Promise<void> {
  await db.deleteFrom('operations').where('state', '=', 'done').where('created_at', '<', before).execute()
}
