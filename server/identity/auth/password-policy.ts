import type { Connection } from '../../platform/storage/database.ts'
import { enforcedFor } from './password-policy.queries.ts'
import { emailDomain } from './email.ts'

/**
 * Whether the user may sign in with the password, or get a new one by mail. Not where an organisation of theirs enforces
 * single sign-on for the domain of their address; its owners with two-factor authentication still may, so that a broken
 * provider does not lock everybody out. Answer as for a wrong password, and compute the hash nevertheless.
 */
export async function maySignInByPassword(
  db: Connection,
  user: { readonly id: string; readonly email: string },
): Promise<boolean> {
  const domain = emailDomain(user.email)
  return domain === null || !(await enforcedFor(db, user.id, domain))
}

/** Whether this organisation lets the user in by single sign-on only. */
export async function mustUseSso(
  db: Connection,
  orgId: string,
  user: { readonly id: string; readonly email: string },
): Promise<boolean> {
  const domain = emailDomain(user.email)
  return domain !== null && (await enforcedFor(db, user.id, domain, orgId))
}
