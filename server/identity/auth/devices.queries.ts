import type { Insertable, Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** SQL of devices. */

export type DeviceRow = Selectable<Tables['devices']>

/** The device of a cookie, or else the one with this fingerprint, if it was seen since. */
export async function findDevice(
  tx: Tx,
  userId: string,
  by: { readonly id: string | null; readonly fingerprint: Buffer; readonly seenSince: Date },
): Promise<DeviceRow | null> {
  const rows = await tx
    .selectFrom('devices')
    .selectAll()
    .where('user_id', '=', userId)
    .where((where) =>
      where.or([
        where('id', '=', by.id),
        where.and([where('fingerprint', '=', by.fingerprint), where('last_seen_at', '>=', by.seenSince)]),
      ]),
    )
    .execute()
  return rows.find(({ id }) => id === by.id) ?? rows[0] ?? null
}

export async function isDevice(db: Connection, userId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('devices')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row !== undefined
}

export async function touchDevice(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.updateTable('devices').set({ last_seen_at: now }).where('id', '=', id).execute()
}

/** Inserts a device, in place of one with the same fingerprint that was not seen for long. */
export async function insertDevice(tx: Tx, device: Insertable<Tables['devices']>): Promise<void> {
  const { user_id: userId, fingerprint } = device
  await tx.deleteFrom('devices').where('user_id', '=', userId).where('fingerprint', '=', fingerprint).execute()
  await tx.insertInto('devices').values(device).execute()
}

/** Deletes the devices of a user beyond `max` that were not seen for longest. */
export async function deleteSurplusDevices(tx: Tx, userId: string, max: number): Promise<void> {
  await tx
    .deleteFrom('devices')
    .where('id', 'in', (from) =>
      from
        .selectFrom('devices')
        .select('id')
        .where('user_id', '=', userId)
        .orderBy('last_seen_at', 'desc')
        .orderBy('id', 'desc')
        .offset(max),
    )
    .execute()
}

/** The last seen first. */
export function selectUserDevices(db: Connection, userId: string): Promise<DeviceRow[]> {
  return db
    .selectFrom('devices')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('last_seen_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** @returns whether it was there */
export async function deleteDevice(db: Connection, userId: string, id: string): Promise<boolean> {
  const result = await db.deleteFrom('devices').where('id', '=', id).where('user_id', '=', userId).executeTakeFirst()
  return result.numDeletedRows === 1n
}

export async function deleteUserDevices(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('devices').where('user_id', '=', userId).execute()
}
