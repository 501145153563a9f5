import type { Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import type { ChatUser } from './chat-payload.ts'

export type LinkRow = Selectable<Tables['chat_links']>
export type OfferRow = Selectable<Tables['chat_link_offers']>

// Requests

/** @returns those keys that were not there */
export async function insertRequests(db: Connection, keys: readonly Buffer[], now: Date): Promise<Set<string>> {
  const rows = await db
    .insertInto('chat_requests')
    .values(keys.map((key) => ({ key, seen_at: now })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('key')
    .execute()
  return new Set(rows.map(({ key }) => key.toString('hex')))
}

export async function deleteRequests(db: Connection, keys: readonly Buffer[]): Promise<void> {
  await db
    .deleteFrom('chat_requests')
    .where('key', 'in', [...keys])
    .execute()
}

// Links

export const selectLink = (db: Connection, { teamId, userId }: Pick<ChatUser, 'teamId' | 'userId'>) =>
  db
    .selectFrom('chat_links')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('chat_user_id', '=', userId)
    .executeTakeFirst()

/** Links of a user, newest first. */
export const selectUserLinks = (db: Connection, userId: string): Promise<LinkRow[]> =>
  db
    .selectFrom('chat_links')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

/** @returns false when the chat user has a link */
export async function insertLink(tx: Tx, link: LinkRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('chat_links')
    .values(link)
    .onConflict((conflict) => conflict.columns(['team_id', 'chat_user_id']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

export const deleteUserLink = (tx: Tx, userId: string, linkId: string) =>
  tx.deleteFrom('chat_links').where('id', '=', linkId).where('user_id', '=', userId).returningAll().executeTakeFirst()

// Offers

/** Replaces an earlier offer to the same chat user. */
export async function putOffer(db: Connection, offer: OfferRow): Promise<void> {
  const { team_id: _team, chat_user_id: _user, ...change } = offer
  await db
    .insertInto('chat_link_offers')
    .values(offer)
    .onConflict((conflict) => conflict.columns(['team_id', 'chat_user_id']).doUpdateSet(change))
    .execute()
}

export const selectOffer = (db: Connection, tokenHash: Buffer, now: Date) =>
  db
    .selectFrom('chat_link_offers')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()

export const takeOffer = (tx: Tx, tokenHash: Buffer, now: Date) =>
  tx
    .deleteFrom('chat_link_offers')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
