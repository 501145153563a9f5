import type { Insertable, Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/**
 * Rows of both kinds of providers: the one of an organisation (`sso_…`), and those that the operator switches on
 * (`social_…`). Their columns say which: a row with `org_id` is of the first kind.
 */

type Row<T extends keyof Tables> = Readonly<Insertable<Tables[T]>>

// Transactions

type Transaction = Row<'sso_transactions'> | Row<'social_transactions'>

export async function insertTransaction(tx: Tx, row: Transaction): Promise<void> {
  const table = 'org_id' in row ? 'sso_transactions' : 'social_transactions'
  await tx.deleteFrom(table).where('expires_at', '<=', row.created_at).execute()
  await tx.insertInto(table).values(row).execute()
}

type Hashes = { readonly state_hash: Buffer; readonly browser_hash: Buffer }

/** Uses the transaction of this state and browser, once. */
export const takeSsoTransaction = (db: Connection, hashes: Hashes, now: Date) =>
  db
    .deleteFrom('sso_transactions')
    .where((where) => where.and(hashes))
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()

/** Uses the transaction of this state, browser and provider, once. */
export const takeSocialTransaction = (db: Connection, hashes: Hashes & { readonly provider: string }, now: Date) =>
  db
    .deleteFrom('social_transactions')
    .where((where) => where.and(hashes))
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()

// Identities

/** Whom the provider of an organisation means. */
export type SsoIdentity = Readonly<Pick<Selectable<Tables['sso_identities']>, 'org_id' | 'issuer' | 'subject'>>

/** Whom GitHub or Google means; `login` is only shown. */
export type SocialIdentity = Readonly<
  Pick<Selectable<Tables['social_identities']>, 'provider' | 'issuer' | 'subject' | 'login'>
>

type Identity = SsoIdentity | SocialIdentity

const identityTable = (identity: Identity) => ('org_id' in identity ? 'sso_identities' : 'social_identities')

const keyOf = ({ issuer, subject, ...rest }: Identity) =>
  'org_id' in rest ? { org_id: rest.org_id, issuer, subject } : { provider: rest.provider, issuer, subject }

export async function userOfIdentity(db: Connection, identity: Identity): Promise<string | null> {
  const row = await db
    .selectFrom(identityTable(identity))
    .select('user_id')
    .where((where) => where.and(keyOf(identity)))
    .executeTakeFirst()
  return row?.user_id ?? null
}

/** @returns false when the identity is linked already, or the user has another one at this provider of the operator */
export async function insertIdentity(tx: Tx, identity: Identity, userId: string, now: Date): Promise<boolean> {
  const last_used_at = 'org_id' in identity ? now : null
  const result = await tx
    .insertInto(identityTable(identity))
    .values({ ...identity, user_id: userId, linked_at: now, last_used_at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

export async function touchIdentity(tx: Tx, identity: Identity, now: Date): Promise<void> {
  await tx
    .updateTable(identityTable(identity))
    .set({ last_used_at: now, ...('login' in identity ? { login: identity.login } : {}) })
    .where((where) => where.and(keyOf(identity)))
    .execute()
}

export async function hasSsoIdentity(
  db: Connection,
  org_id: string,
  issuer: string,
  user_id: string,
): Promise<boolean> {
  const query = db.selectFrom('sso_identities').select('subject')
  return (await query.where((where) => where.and({ org_id, issuer, user_id })).executeTakeFirst()) !== undefined
}

export const selectSocialIdentities = (db: Connection, userId: string) =>
  db.selectFrom('social_identities').selectAll().where('user_id', '=', userId).orderBy('provider').execute()

export async function deleteSocialIdentity(
  tx: Tx,
  userId: string,
  provider: SocialIdentity['provider'],
): Promise<void> {
  await tx.deleteFrom('social_identities').where('user_id', '=', userId).where('provider', '=', provider).execute()
}

/** @returns the identities that were deleted */
export async function deleteUserIdentities(tx: Tx, userId: string) {
  const social = await tx.deleteFrom('social_identities').where('user_id', '=', userId).returningAll().execute()
  const sso = await tx.deleteFrom('sso_identities').where('user_id', '=', userId).returning('issuer').execute()
  return { social, sso }
}

// Pending links

export type SsoPendingLink = Selectable<Tables['sso_pending_links']>

export async function insertPendingLink(
  db: Connection,
  row: Row<'sso_pending_links'> | Row<'social_pending_links'>,
  now: Date,
): Promise<void> {
  const table = 'org_id' in row ? 'sso_pending_links' : 'social_pending_links'
  await db.deleteFrom(table).where('expires_at', '<=', now).execute()
  await db.insertInto(table).values(row).execute()
}

export const readSsoPendingLink = (db: Connection, hash: Buffer, now: Date): Promise<SsoPendingLink | undefined> =>
  db
    .selectFrom('sso_pending_links')
    .selectAll()
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()

/** @returns whether it was still there: a link is used once */
export async function deleteSsoPendingLink(tx: Tx, hash: Buffer): Promise<boolean> {
  const result = await tx.deleteFrom('sso_pending_links').where('token_hash', '=', hash).executeTakeFirst()
  return result.numDeletedRows === 1n
}

/** Uses the pending link of this browser, once. */
export const takeSocialPendingLink = (tx: Tx, hash: Buffer, now: Date) =>
  tx
    .deleteFrom('social_pending_links')
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
