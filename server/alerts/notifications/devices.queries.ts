import type { Insertable, Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

export type DeviceRow = Omit<Selectable<Tables['push_devices']>, 'token_hash' | 'token_sealed'>

const COLUMNS = [
  'id',
  'org_id',
  'user_id',
  'platform',
  'provider',
  'token_masked',
  'session_id',
  'api_key_id',
  'created_at',
  'registered_at',
  'last_sent_at',
  'last_error_code',
  'last_error_text',
  'last_error_at',
] as const

/** Whose devices: one membership. */
type DeviceOwner = { readonly userId: string; readonly orgId: string }

/** All devices of a member, newest first; there are few. */
export const selectDevices = (db: Connection, { userId, orgId }: DeviceOwner): Promise<DeviceRow[]> =>
  db
    .selectFrom('push_devices')
    .select(COLUMNS)
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

export const selectDevice = (
  db: Connection,
  { userId, orgId }: DeviceOwner,
  deviceId: string,
): Promise<DeviceRow | undefined> =>
  db
    .selectFrom('push_devices')
    .select(COLUMNS)
    .where('id', '=', deviceId)
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .executeTakeFirst()

/** The registrations of a token, in all organisations. */
export const lockByToken = (tx: Tx, tokenHash: Buffer) =>
  tx
    .selectFrom('push_devices')
    .select(['id', 'org_id', 'user_id'])
    .where('token_hash', '=', tokenHash)
    .orderBy('id')
    .forUpdate()
    .execute()

/** Devices of the member, and of the organisation. */
export async function countDevices(tx: Tx, { userId, orgId }: DeviceOwner): Promise<{ own: number; all: number }> {
  const { rows } = await tx.query<{ own: number; all: number }>(
    `select count(*) filter (where user_id = $2)::int as own, count(*)::int as "all" from push_devices where org_id = $1`,
    [orgId, userId],
  )
  return rows[0] ?? { own: 0, all: 0 }
}

export async function insertDevice(tx: Tx, device: Insertable<Tables['push_devices']>): Promise<void> {
  await tx.insertInto('push_devices').values(device).execute()
}

type DeviceChange = Partial<Insertable<Tables['push_devices']>>

export async function changeDevice(tx: Tx, deviceId: string, change: DeviceChange): Promise<void> {
  await tx.updateTable('push_devices').set(change).where('id', '=', deviceId).execute()
}

/** In the order of their ids, in which everything locks devices. @returns number deleted */
export async function deleteDevices(tx: Tx, ids: readonly string[]): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from push_devices where id in (
       select id from push_devices where id = any($1::uuid[]) order by id for update)`,
    [ids],
  )
  return rowCount ?? 0
}

/** @returns false when the member has no such device */
export async function deleteMemberDevice(tx: Tx, { userId, orgId }: DeviceOwner, deviceId: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from push_devices where id = $1 and org_id = $2 and user_id = $3', [
    deviceId,
    orgId,
    userId,
  ])
  return rowCount === 1
}

export async function deleteDevicesOfMembers(tx: Tx, members: readonly DeviceOwner[]): Promise<void> {
  await tx.query(
    `delete from push_devices where id in (
       select d.id from push_devices d
       join unnest($1::uuid[], $2::uuid[]) as m (org_id, user_id) on m.org_id = d.org_id and m.user_id = d.user_id
       order by d.id for update of d)`,
    [members.map(({ orgId }) => orgId), members.map(({ userId }) => userId)],
  )
}

export async function deleteDevicesOfSessions(tx: Tx, sessionIds: readonly string[]): Promise<void> {
  await tx.query(
    `delete from push_devices where id in (
       select id from push_devices where session_id = any($1::uuid[]) order by id for update)`,
    [sessionIds],
  )
}

/** Devices of a session belong to the one that continues it. */
export async function moveDevices(tx: Tx, fromSessionId: string, toSessionId: string): Promise<void> {
  await tx.query('update push_devices set session_id = $2 where session_id = $1', [fromSessionId, toSessionId])
}
