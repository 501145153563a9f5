import type { Insertable, Updateable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'
import type { Difference } from './imports.api.ts'

export const sourceTokenPlace = (orgId: string, importId: string): string => `imports:token_sealed:${importId}:${orgId}`

export const IMPORT_TOKENS: OrgSealedColumn = {
  table: 'imports',
  column: 'token_sealed',
  keys: ['id'],
  placeOf: (orgId, importId = '') => sourceTokenPlace(orgId, importId),
}

const rows = (db: Connection, orgId: string) =>
  db
    .selectFrom('imports as i')
    .leftJoin('users as u', 'u.id', 'i.created_by')
    .selectAll('i')
    .select('u.name as creator_name')
    .select((from) =>
      from
        .selectFrom('import_differences as d')
        .select((sum) => sum.fn.coalesce(sum.fn.sum<number>('d.count'), sum.lit(0)).as('n'))
        .whereRef('d.import_id', '=', 'i.id')
        .as('differences'),
    )
    .where('i.org_id', '=', orgId)

export type ImportRow = NonNullable<Awaited<ReturnType<typeof selectImport>>>

export const selectImport = (db: Connection, orgId: string, importId: string) =>
  rows(db, orgId).where('i.id', '=', importId).executeTakeFirst()

export const selectImports = (db: Connection, orgId: string, limit: number, offset: number) =>
  rows(db, orgId).orderBy('i.created_at', 'desc').orderBy('i.id', 'desc').limit(limit).offset(offset).execute()

export async function countImports(db: Connection, orgId: string): Promise<number> {
  const query = db.selectFrom('imports').select((eb) => eb.fn.countAll<number>().as('n'))
  return (await query.where('org_id', '=', orgId).executeTakeFirstOrThrow()).n
}

/** For the job, which knows no organisation. */
export const readForJob = (db: Connection, importId: string) =>
  db.selectFrom('imports').selectAll().where('id', '=', importId).executeTakeFirst()
export type StoredImport = NonNullable<Awaited<ReturnType<typeof readForJob>>>

export const lockImport = (tx: Tx, importId: string) =>
  tx.selectFrom('imports').selectAll().where('id', '=', importId).forUpdate().executeTakeFirst()

export async function countUnderWay(db: Connection, orgId: string): Promise<number> {
  const query = db.selectFrom('imports').select((eb) => eb.fn.countAll<number>().as('n'))
  const under = query.where('org_id', '=', orgId).where('state', 'in', ['mapping', 'running', 'paused'])
  return (await under.executeTakeFirstOrThrow()).n
}

/** @returns false when the source is being imported */
export async function insertImport(tx: Tx, row: Insertable<Tables['imports']>): Promise<boolean> {
  const result = await tx
    .insertInto('imports')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

export async function updateImport(
  tx: Connection,
  importId: string,
  set: Updateable<Tables['imports']>,
): Promise<void> {
  await tx.updateTable('imports').set(set).where('id', '=', importId).execute()
}

/** Keeps the newest imports of an organisation, and all that are under way. */
export async function forgetOldImports(tx: Tx, orgId: string, kept: number): Promise<void> {
  await tx.query(
    `delete from imports where org_id = $1 and state in ('stopped', 'done') and id not in (
       select id from imports where org_id = $1 order by created_at desc limit $2)`,
    [orgId, kept],
  )
}

export const selectDifferences = (db: Connection, importId: string) =>
  db
    .selectFrom('import_differences')
    .select(['kind', 'reason', 'instead', 'count', 'examples'])
    .where('import_id', '=', importId)
    .orderBy('kind')
    .orderBy('reason')
    .execute()

/** Adds to what did not map: the same reason is one row. */
export async function addDifference(tx: Tx, importId: string, difference: Difference): Promise<void> {
  const { kind, reason, instead, count, examples } = difference
  await tx.query(
    `insert into import_differences (import_id, kind, reason, instead, count, examples) values ($1, $2, $3, $4, $5, $6::jsonb)
     on conflict (import_id, kind, reason) do update set
       count = import_differences.count + excluded.count,
       examples = case when jsonb_array_length(import_differences.examples) >= 5 then import_differences.examples
                  else jsonb_path_query_array(import_differences.examples || excluded.examples, '$[0 to 4]') end`,
    [importId, kind, reason, instead, count, JSON.stringify(examples.slice(0, 5))],
  )
}

export type ThingKind = 'project' | 'issue' | 'comment' | 'rule' | 'file'
export type Thing = { readonly id: string | null; readonly quantity: number }

/** Things that came from a source before, by id there. */
export async function selectThings(
  db: Connection,
  orgId: string,
  source: string,
  kind: ThingKind,
  sourceIds: readonly string[],
): Promise<Map<string, Thing>> {
  if (sourceIds.length === 0) return new Map()
  const found = await db
    .selectFrom('imported_things')
    .select(['source_id', 'id', 'quantity'])
    .where('org_id', '=', orgId)
    .where('source', '=', source)
    .where('kind', '=', kind)
    .where('source_id', 'in', [...sourceIds])
    .execute()
  return new Map(found.map(({ source_id: sourceId, ...thing }) => [sourceId, thing]))
}

export async function saveThing(tx: Tx, thing: Insertable<Tables['imported_things']>): Promise<void> {
  await tx
    .insertInto('imported_things')
    .values(thing)
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'source', 'kind', 'source_id']).doUpdateSet((row) => ({
        id: row.ref('excluded.id'),
        quantity: row.ref('excluded.quantity'),
      })),
    )
    .execute()
}
