/** Roles from least to most. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** Who may do a thing: the least role, and the API-key scope that stands for it (null: sessions only). */
export type Rule = { readonly least: Role; readonly scope: string | null }

/**
 * The permission matrix. Every route names one entry; effective right = role ∩ scopes, judged at each request.
 * `public` needs no session; `self` is anybody with a session of their own, never an API key.
 */
export const PERMISSIONS = {
  public: null,
  self: { least: 'viewer', scope: null },
  'issues.read': { least: 'viewer', scope: 'issues:read' },
  'issues.write': { least: 'member', scope: 'issues:write' },
  'issues.admin': { least: 'admin', scope: 'issues:admin' },
  'releases.read': { least: 'viewer', scope: 'releases:read' },
  'releases.write': { least: 'member', scope: 'releases:write' },
  'projects.read': { least: 'viewer', scope: 'projects:read' },
  'projects.write': { least: 'admin', scope: 'projects:write' },
  'team.read': { least: 'viewer', scope: 'team:read' },
  'team.write': { least: 'admin', scope: 'team:write' },
} as const satisfies Record<string, Rule | null>

export type Permission = keyof typeof PERMISSIONS

/** Whether `role` is at least `least`. */
export const roleAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least)
