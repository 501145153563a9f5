import type { Insertable, Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** Channels that members turned off for single projects. */

type ProjectRow = Selectable<Tables['notification_projects']>

export const selectProjectChannels = (db: Connection, orgId: string, userId: string): Promise<ProjectRow[]> =>
  db
    .selectFrom('notification_projects')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .orderBy('project_id')
    .execute()

/** Who of these members turned a channel off for a project. */
export async function selectSilent(
  db: Connection,
  channel: 'email' | 'push',
  { orgId, projectId }: { readonly orgId: string; readonly projectId: string },
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('notification_projects')
    .select('user_id')
    .where('org_id', '=', orgId)
    .where('project_id', '=', projectId)
    .where('user_id', 'in', [...userIds])
    .where(channel, '=', false)
    .execute()
  return new Set(rows.map(({ user_id }) => user_id))
}

/** Stores the channels of a project; a row of one that has both is not kept. */
export async function writeProjectChannels(tx: Tx, row: Insertable<Tables['notification_projects']>): Promise<void> {
  const { email, push, ...key } = row
  if (email && push) {
    await tx
      .deleteFrom('notification_projects')
      .where('user_id', '=', key.user_id)
      .where('org_id', '=', key.org_id)
      .where('project_id', '=', key.project_id)
      .execute()
    return
  }
  await tx
    .insertInto('notification_projects')
    .values(row)
    .onConflict((conflict) => conflict.columns(['user_id', 'org_id', 'project_id']).doUpdateSet({ email, push }))
    .execute()
}
