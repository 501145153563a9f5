import { forbidden } from '../kernel/errors.ts'
import { roleAtLeast, type Role } from '../kernel/permissions.ts'

/** Who is asking. Verbs scope every query by `orgId`. */
export type Actor = {
  readonly kind: 'user'
  readonly userId: string
  readonly orgId: string
  readonly role: Role
  readonly sessionId: string
}

/** What a request says about where it came from. */
export type Origin = { readonly ip: string; readonly userAgent: string | null; readonly requestId: string }

/**
 * For rules finer than a route's permission.
 * @throws AppError forbidden, naming the role that would do
 */
export function requireRole(actor: Actor, least: Role, action: string): void {
  if (!roleAtLeast(actor.role, least))
    throw forbidden(`${action} needs the role ${least} or higher; yours is ${actor.role}.`)
}
