import type { Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** SQL of the links in mails. */

type AccountToken = Selectable<Tables['account_tokens']>
export type TokenPurpose = 'reset' | 'email'

/** Replaces an earlier token of the same purpose. */
export async function putToken(
  tx: Tx,
  token: Omit<AccountToken, 'purpose'> & { readonly purpose: TokenPurpose },
): Promise<void> {
  const { token_hash, email, created_at, expires_at } = token
  await tx
    .insertInto('account_tokens')
    .values(token)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'purpose']).doUpdateSet({ token_hash, email, created_at, expires_at }),
    )
    .execute()
}

/** @returns null when it is unknown, was used or replaced, or has expired */
export async function readToken(
  db: Connection,
  purpose: TokenPurpose,
  hash: Buffer,
  now: Date,
): Promise<AccountToken | null> {
  const row = await db
    .selectFrom('account_tokens')
    .selectAll()
    .where('token_hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row ?? null
}

/** Deletes all tokens of a user: each was made for a state of the account that no longer is. */
export async function deleteTokens(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('account_tokens').where('user_id', '=', userId).execute()
}
