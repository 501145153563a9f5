import type { Tx } from '../../platform/storage/database.ts'

/** Names of the active members among these users, by organisation. Locks the memberships until the transaction ends. */
export async function lockMembers(
  tx: Tx,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  if (userIds.length === 0) return new Map()
  const { rows } = await tx.query<{ id: string; org_id: string; name: string }>(
    `select u.id, m.org_id, u.name from memberships m join users u on u.id = m.user_id
     where m.user_id = any($1::uuid[]) and m.disabled_at is null and u.disabled_at is null
     order by m.user_id, m.org_id for key share of m`,
    [[...userIds]],
  )
  const orgs = Map.groupBy(rows, (row) => row.org_id)
  return new Map([...orgs].map(([orgId, members]) => [orgId, new Map(members.map(({ id, name }) => [id, name]))]))
}
