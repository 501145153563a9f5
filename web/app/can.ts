import { useQuery } from '@tanstack/react-query'
import { requiredRole, roleAtLeast, type Permission, type Role } from '#shared/permissions.ts'
import { meQuery } from '../api/queries.ts'
import { appTexts } from './texts.ts'

/** The dashboard disables what the server refuses: both use the same permission matrix. */
export type Action = Exclude<Permission, 'public' | 'self'>

type Allowed = { readonly allowed: true; readonly why: undefined } | { readonly allowed: false; readonly why: string }

/** Whether the role has the permission; if not, the sentence for a disabled control. */
export function can(role: Role, action: Action): Allowed {
  const minRole = requiredRole(action)
  return roleAtLeast(role, minRole)
    ? { allowed: true, why: undefined }
    : { allowed: false, why: appTexts.needsRole(minRole) }
}

/** The same for the logged-in member; nothing is allowed while the role loads. */
export function useCan(action: Action): Allowed {
  const me = useQuery(meQuery)
  return can(me.data?.user.role ?? 'viewer', action)
}
