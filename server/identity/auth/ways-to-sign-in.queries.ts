import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'

/**
 * How many ways to sign in the user has: a password, passkeys, identities of single sign-on and of providers. The last one
 * must stay: lock the user's row before.
 */
export async function waysToSignIn(db: Connection, userId: string): Promise<number> {
  const { rows } = await sql<{ ways: number }>`
    select (
      (select count(*) from users where id = ${userId} and password_hash is not null)
      + (select count(*) from passkeys where user_id = ${userId})
      + (select count(*) from social_identities where user_id = ${userId})
      + (select count(*) from sso_identities where user_id = ${userId})
    )::integer as ways`.execute(db)
  return rows[0]?.ways ?? 0
}
