import type { RouteSpec, RouteSpecs } from '../server/platform/kernel/contract.ts'
import { PERMISSIONS, roleAtLeast, ROLES, SCOPES, type Role, type Rule } from '../shared/permissions.ts'

const HIGHEST_FIRST = ROLES.toReversed()

const marks = (minRole: Role): string =>
  HIGHEST_FIRST.map((role) => (roleAtLeast(role, minRole) ? '✓' : '–')).join(' | ')

const scopeOf = ({ scope }: Rule): string =>
  scope === null ? 'sessions only' : scope === 'any' ? 'any' : `\`${scope}\``

function rowOf({ method, path, summary, permission }: RouteSpec): string {
  const rule: Rule | null = PERMISSIONS[permission]
  const access =
    rule === null
      ? `${HIGHEST_FIRST.map(() => '✓').join(' | ')} | none needed`
      : `${marks(rule.minRole)} | ${scopeOf(rule)}`
  return `| \`${method} ${path}\` | ${summary} | ${access} |`
}

/** `docs/permissions.md`: who may call which route, from the contract and the permission matrix. */
export function permissionsPage(specs: RouteSpecs): string {
  const byTag = Map.groupBy(Object.values(specs), ({ tag }) => tag)
  const head = `| Route | What it does | ${HIGHEST_FIRST.join(' | ')} | API key |\n| --- | --- | ${HIGHEST_FIRST.map(() => '---').join(' | ')} | --- |`
  const sections = [...byTag].map(([tag, routes]) => `## ${tag}\n\n${head}\n${routes.map(rowOf).join('\n')}\n`)
  return `# Permissions

For members and operators. \`npm run openapi\` writes this page from the API contract and the permission matrix (\`shared/permissions.ts\`); a test fails while they differ, and \`test/refusals.test.ts\` calls every route as every role, with and without every scope, as a user of another organisation and without a session.

A request needs a role that has a ✓ and, with an API key, the scope as well: what a key may do is the role of its member at that moment, limited by its scopes. "sessions only" refuses every key, "any" takes every key, and "none needed" takes requests without a session. Something of another organisation is 404, a role or scope that is too low 403.

Finer rules that the table does not show: only the author, or a caller with the permission to administer issues, deletes a comment; only owners change owners, and no member gives a role above their own; a viewer shares no view.

Scopes: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}. \`read\` stands for all that end in \`:read\`, \`write\` for those and all that end in \`:write\`, \`admin\` for all.

${sections.join('\n')}`
}
