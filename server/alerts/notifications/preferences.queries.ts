import type { Insertable, Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

export type PreferencesRow = Selectable<Tables['notification_preferences']>

/** Rows of those members who changed anything. */
export const selectPreferences = (
  db: Connection,
  orgId: string,
  userIds: readonly string[],
): Promise<PreferencesRow[]> =>
  db
    .selectFrom('notification_preferences')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('user_id', 'in', [...userIds])
    .execute()

export async function writePreferences(
  tx: Tx,
  { user_id, org_id, ...values }: Insertable<Tables['notification_preferences']>,
): Promise<void> {
  await tx
    .insertInto('notification_preferences')
    .values({ user_id, org_id, ...values })
    .onConflict((conflict) => conflict.columns(['user_id', 'org_id']).doUpdateSet(values))
    .execute()
}
