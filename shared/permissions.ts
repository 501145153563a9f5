/** Roles, lowest first. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** What a permission requires: the minimum role, and the scope of an API key (null: sessions only). */
export type Rule = { readonly minRole: Role; readonly scope: Scope | null }

/**
 * The permission matrix of the server, and what the dashboard enables. Every route names one entry; the effective right
 * is role ∩ scopes, checked at each request. `public` needs no session; `self` needs a session, never an API key.
 */
export const PERMISSIONS = {
  public: null,
  self: { minRole: 'viewer', scope: null },
  'issues.read': { minRole: 'viewer', scope: 'issues:read' },
  'issues.write': { minRole: 'member', scope: 'issues:write' },
  'issues.admin': { minRole: 'admin', scope: 'issues:admin' },
  'releases.read': { minRole: 'viewer', scope: 'releases:read' },
  'releases.write': { minRole: 'member', scope: 'releases:write' },
  'projects.read': { minRole: 'viewer', scope: 'projects:read' },
  'projects.write': { minRole: 'admin', scope: 'projects:write' },
  'team.read': { minRole: 'viewer', scope: 'team:read' },
  'team.write': { minRole: 'admin', scope: 'team:write' },
  'webhooks.read': { minRole: 'admin', scope: 'webhooks:read' },
  'webhooks.write': { minRole: 'admin', scope: 'webhooks:write' },
  'projects.delete': { minRole: 'owner', scope: null },
  'sso.manage': { minRole: 'owner', scope: null },
  'audit.read': { minRole: 'admin', scope: 'audit:read' },
  'audit.verify': { minRole: 'owner', scope: 'audit:read' },
} as const satisfies Record<string, Rule | null>

export type Permission = keyof typeof PERMISSIONS

/** What an API key may be limited to; some belong to parts of the product that come later. */
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
export const minRoleOf = (permission: Exclude<Permission, 'public'>): Role => PERMISSIONS[permission].minRole
