/** Roles, lowest first. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** Requirements of a permission: the minimum role, and of an API key a scope (`any`: none; null: keys are refused). */
export type Rule = { readonly minRole: Role; readonly scope: Scope | 'any' | null }

/**
 * The permission matrix of the server, and what the dashboard enables. Every route names one entry; the effective right
 * is role ∩ scopes, checked at each request. `public` needs no session; `self` needs a session, never an API key.
 */
export const PERMISSIONS = {
  public: null,
  self: { minRole: 'viewer', scope: null },
  /** Who the caller is: each key may ask. */
  'me.read': { minRole: 'viewer', scope: 'any' },
  'issues.read': { minRole: 'viewer', scope: 'issues:read' },
  'issues.write': { minRole: 'member', scope: 'issues:write' },
  'issues.admin': { minRole: 'admin', scope: 'issues:admin' },
  'metrics.read': { minRole: 'viewer', scope: 'metrics:read' },
  'alerts.read': { minRole: 'viewer', scope: 'alerts:read' },
  'alerts.write': { minRole: 'member', scope: 'alerts:write' },
  'releases.read': { minRole: 'viewer', scope: 'releases:read' },
  'releases.write': { minRole: 'member', scope: 'releases:write' },
  'ai.use': { minRole: 'viewer', scope: 'ai:use' },
  'uploads.read': { minRole: 'viewer', scope: 'releases:read' },
  'uploads.write': { minRole: 'member', scope: 'uploads:write' },
  'projects.read': { minRole: 'viewer', scope: 'projects:read' },
  'projects.write': { minRole: 'admin', scope: 'projects:write' },
  'team.read': { minRole: 'viewer', scope: 'team:read' },
  'team.write': { minRole: 'admin', scope: 'team:write' },
  'invites.read': { minRole: 'admin', scope: 'team:read' },
  'integrations.read': { minRole: 'viewer', scope: 'projects:read' },
  'integrations.write': { minRole: 'admin', scope: 'integrations:write' },
  'webhooks.read': { minRole: 'admin', scope: 'webhooks:read' },
  'webhooks.write': { minRole: 'admin', scope: 'webhooks:write' },
  'imports.manage': { minRole: 'admin', scope: 'integrations:write' },
  'devices.read': { minRole: 'viewer', scope: 'alerts:read' },
  'devices.write': { minRole: 'viewer', scope: 'alerts:write' },
  'projects.delete': { minRole: 'owner', scope: null },
  'sso.manage': { minRole: 'owner', scope: null },
  'audit.read': { minRole: 'admin', scope: 'audit:read' },
  'audit.verify': { minRole: 'owner', scope: 'audit:read' },
} as const satisfies Record<string, Rule | null>

export type Permission = keyof typeof PERMISSIONS

/** Scopes to which an API key may be limited. */
export const SCOPES = [
  'issues:read',
  'issues:write',
  'issues:admin',
  'metrics:read',
  'releases:read',
  'releases:write',
  'uploads:write',
  'alerts:read',
  'alerts:write',
  'ai:use',
  'projects:read',
  'projects:write',
  'integrations:write',
  'webhooks:read',
  'webhooks:write',
  'team:read',
  'team:write',
  'audit:read',
] as const
export type Scope = (typeof SCOPES)[number]

/** Whether `role` is `minRole` or a higher one. */
export const roleAtLeast = (role: Role, minRole: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(minRole)

/** The minimum role of a permission that needs a session. */
export const requiredRole = (permission: Exclude<Permission, 'public'>): Role => PERMISSIONS[permission].minRole

/** Who asks for a permission: a member, and for an API key its scopes. */
export type Asking = { readonly role: Role; readonly scopes?: readonly string[] }

/** Why a permission is refused, as a sentence for the caller; null when it is granted: role ∩ scopes. */
export function explainRefusal(permission: Exclude<Permission, 'public'>, { role, scopes }: Asking): string | null {
  const rule: Rule = PERMISSIONS[permission]
  if (scopes !== undefined && rule.scope === null) return 'An API key cannot do this. Log in to the dashboard.'
  if (scopes !== undefined && rule.scope !== null && rule.scope !== 'any' && !scopes.includes(rule.scope))
    return `This needs an API key with the scope ${rule.scope}.`
  if (!roleAtLeast(role, rule.minRole)) return `This needs the role ${rule.minRole} or higher; yours is ${role}.`
  return null
}
