import type { Connection } from '../../platform/storage/database.ts'

/** SQL that the fan-out reads with. It locks nothing: neither attempts nor changes of an endpoint make it wait. */

/** Endpoints of these organisations, also paused ones. */
export const selectOrgEndpoints = (db: Connection, orgIds: readonly string[]) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['id', 'org_id', 'app_id', 'events', 'secret_version'])
    .where('org_id', 'in', orgIds)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()

export type FanOutEndpoint = Awaited<ReturnType<typeof selectOrgEndpoints>>[number]

/** E-mail addresses of users, by id. */
export async function selectUserEmails(
  db: Connection,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (userIds.length === 0) return new Map()
  const rows = await db.selectFrom('users').select(['id', 'email']).where('id', 'in', userIds).execute()
  return new Map(rows.map(({ id, email }) => [id, email]))
}
