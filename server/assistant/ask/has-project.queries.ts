import type { Connection } from '../../platform/storage/database.ts'

/** Whether an organisation has a project. Every caller may ask about one: what it may read of it is decided by each read. */
export const hasProject = async (db: Connection, orgId: string, projectId: string): Promise<boolean> =>
  (await db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('org_id', '=', orgId)
    .executeTakeFirst()) !== undefined
