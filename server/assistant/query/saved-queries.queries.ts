import type { Insertable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

/** Saved queries of a project, with the name of the member who made each; null for who is no member any more. */
export const selectSavedQueries = (db: Connection, orgId: string, projectId: string) =>
  db
    .selectFrom('saved_queries as q')
    .leftJoin('memberships as m', (join) =>
      join.onRef('m.user_id', '=', 'q.created_by').on('m.org_id', '=', orgId).on('m.disabled_at', 'is', null),
    )
    .leftJoin('users as u', (join) => join.onRef('u.id', '=', 'm.user_id').on('u.disabled_at', 'is', null))
    .where('q.project_id', '=', projectId)
    .orderBy('q.created_at')
    .orderBy('q.id')
    .select(['q.id', 'q.name', 'q.question', 'q.statement', 'q.created_at', 'u.id as creator_id', 'u.name as creator'])
    .execute()

/** The number of saved queries. Other callers for the project wait until the transaction ends. */
export async function countSavedQueries(tx: Tx, projectId: string): Promise<number> {
  await tx.selectFrom('projects').select('id').where('id', '=', projectId).forNoKeyUpdate().executeTakeFirst()
  const { n } = await tx
    .selectFrom('saved_queries')
    .where('project_id', '=', projectId)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

export async function insertSavedQuery(tx: Tx, row: Insertable<Tables['saved_queries']>): Promise<void> {
  await tx.insertInto('saved_queries').values(row).execute()
}

/** Who made a query, locked until the transaction ends; undefined for a query of another project. */
export const lockSavedQuery = (tx: Tx, projectId: string, queryId: string) =>
  tx
    .selectFrom('saved_queries')
    .select('created_by')
    .where('id', '=', queryId)
    .where('project_id', '=', projectId)
    .forUpdate()
    .executeTakeFirst()

export async function removeSavedQuery(tx: Tx, queryId: string): Promise<void> {
  await tx.deleteFrom('saved_queries').where('id', '=', queryId).execute()
}

export const SAVED_QUERY_PART = projectPart(100, [ownRows('saved_queries')])
