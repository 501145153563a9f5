import type { Insertable, Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

// Transactions

export type TransactionRow = Pick<
  Selectable<Tables['social_transactions']>,
  'provider' | 'linking_session_id' | 'created_at'
>

export async function insertTransaction(tx: Tx, transaction: Insertable<Tables['social_transactions']>): Promise<void> {
  await tx.deleteFrom('social_transactions').where('expires_at', '<=', transaction.created_at).execute()
  await tx.insertInto('social_transactions').values(transaction).execute()
}

/** Uses the transaction of this state, browser and provider, once. */
export async function takeTransaction(
  db: Connection,
  hashes: { readonly state: Buffer; readonly browser: Buffer },
  provider: string,
  now: Date,
): Promise<TransactionRow | null> {
  const row = await db
    .deleteFrom('social_transactions')
    .where('state_hash', '=', hashes.state)
    .where('browser_hash', '=', hashes.browser)
    .where('provider', '=', provider)
    .where('expires_at', '>', now)
    .returning(['provider', 'linking_session_id', 'created_at'])
    .executeTakeFirst()
  return row ?? null
}

// Identities

/** Who the provider means; `login` is only shown. */
export type SocialIdentity = {
  readonly provider: 'github' | 'google'
  readonly issuer: string
  readonly subject: string
  readonly login: string
}

export type SocialIdentityRow = Selectable<Tables['social_identities']>

export async function userOfIdentity(db: Connection, identity: SocialIdentity): Promise<string | null> {
  const row = await db
    .selectFrom('social_identities')
    .select('user_id')
    .where('provider', '=', identity.provider)
    .where('issuer', '=', identity.issuer)
    .where('subject', '=', identity.subject)
    .executeTakeFirst()
  return row?.user_id ?? null
}

export function identitiesOf(db: Connection, userId: string): Promise<SocialIdentityRow[]> {
  return db.selectFrom('social_identities').selectAll().where('user_id', '=', userId).orderBy('provider').execute()
}

/** @returns false when the identity is linked already, or the user has another one at this provider */
export async function insertIdentity(tx: Tx, identity: SocialIdentity, userId: string, now: Date): Promise<boolean> {
  const result = await tx
    .insertInto('social_identities')
    .values({ ...identity, user_id: userId, linked_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

export async function touchIdentity(tx: Tx, identity: SocialIdentity, now: Date): Promise<void> {
  await tx
    .updateTable('social_identities')
    .set({ last_used_at: now, login: identity.login })
    .where('provider', '=', identity.provider)
    .where('issuer', '=', identity.issuer)
    .where('subject', '=', identity.subject)
    .execute()
}

export async function deleteIdentity(tx: Tx, userId: string, provider: SocialIdentity['provider']): Promise<void> {
  await tx.deleteFrom('social_identities').where('user_id', '=', userId).where('provider', '=', provider).execute()
}

/** @returns the identities that were deleted */
export const deleteSocialIdentitiesOf = (tx: Tx, userId: string): Promise<SocialIdentityRow[]> =>
  tx.deleteFrom('social_identities').where('user_id', '=', userId).returningAll().execute()

// Pending links

export type PendingLinkRow = Selectable<Tables['social_pending_links']>

export async function insertPendingLink(db: Connection, link: PendingLinkRow, now: Date): Promise<void> {
  await db.deleteFrom('social_pending_links').where('expires_at', '<=', now).execute()
  await db.insertInto('social_pending_links').values(link).execute()
}

/** Uses the pending link of this browser, once. */
export async function takePendingLink(tx: Tx, hash: Buffer, now: Date): Promise<PendingLinkRow | null> {
  const row = await tx
    .deleteFrom('social_pending_links')
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}
