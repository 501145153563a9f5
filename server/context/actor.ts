import type { Role } from '../kernel/permissions.ts'

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
