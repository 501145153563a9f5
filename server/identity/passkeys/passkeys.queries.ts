import type { Insertable, Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

export type PasskeyRow = Selectable<Tables['passkeys']>

/** Oldest first. */
export function selectPasskeys(db: Connection, userId: string): Promise<PasskeyRow[]> {
  return db
    .selectFrom('passkeys')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function passkeyOfCredential(db: Connection, credentialId: Buffer): Promise<PasskeyRow | null> {
  const row = await db.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId).executeTakeFirst()
  return row ?? null
}

/** @returns false when another user, or this one, has a passkey with this credential */
export async function insertPasskey(tx: Tx, passkey: Insertable<Tables['passkeys']>): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('passkeys')
    .values(passkey)
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/**
 * Records a use. The counter must be higher than at the last use, unless the authenticator does not count.
 * @returns false when the counter went back, or the passkey is gone
 */
export async function recordPasskeyUse(
  tx: Tx,
  passkeyId: string,
  use: { readonly counter: number; readonly backedUp: boolean; readonly now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('passkeys')
    .set({ counter: use.counter, backed_up: use.backedUp, last_used_at: use.now })
    .where('id', '=', passkeyId)
    .where((where) => (use.counter === 0 ? where('counter', '=', 0) : where('counter', '<', use.counter)))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function setPasskeyName(
  db: Connection,
  passkey: { readonly id: string; readonly userId: string },
  name: string,
): Promise<PasskeyRow | null> {
  const row = await db
    .updateTable('passkeys')
    .set({ name })
    .where('id', '=', passkey.id)
    .where('user_id', '=', passkey.userId)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

export async function removePasskey(
  tx: Tx,
  passkey: { readonly id: string; readonly userId: string },
): Promise<PasskeyRow | null> {
  const row = await tx
    .deleteFrom('passkeys')
    .where('id', '=', passkey.id)
    .where('user_id', '=', passkey.userId)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** @returns the passkeys that were deleted */
export const deleteUserPasskeys = (tx: Tx, userId: string): Promise<PasskeyRow[]> =>
  tx.deleteFrom('passkeys').where('user_id', '=', userId).returningAll().execute()

/** Uses up a challenge, in one statement. @returns false when it was answered before */
export async function consumeChallenge(db: Connection, hash: Buffer, expiresAt: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('used_challenges')
    .values({ hash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** An expired challenge is refused by its cookie: its row is no longer needed. */
export async function deleteExpiredChallenges(db: Connection, before: Date): Promise<void> {
  await db.deleteFrom('used_challenges').where('expires_at', '<', before).execute()
}
