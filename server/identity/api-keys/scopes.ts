import { SCOPES, type Scope } from '#shared/permissions.ts'
import { invalid } from '../../platform/kernel/errors.ts'

/** Names for several scopes. */
const ALIASES: Readonly<Record<string, readonly Scope[]>> = {
  read: SCOPES.filter((scope) => scope.endsWith(':read')),
  write: SCOPES.filter((scope) => scope.endsWith(':read') || scope.endsWith(':write')),
  admin: SCOPES,
}

/** `issue:read` is `issues:read`. */
const BY_NAME: ReadonlyMap<string, readonly Scope[]> = new Map([
  ...Object.entries(ALIASES),
  ...SCOPES.flatMap((scope): [string, readonly Scope[]][] => [
    [scope, [scope]],
    [scope.replace('s:', ':'), [scope]],
  ]),
])

/**
 * The scopes that a user named, aliases resolved, each once.
 * @throws AppError invalid
 */
export function parseScopes(names: readonly string[]): Scope[] {
  const chosen = new Set<Scope>()
  for (const name of names) {
    const scopes = BY_NAME.get(name)
    if (scopes === undefined)
      throw invalid(`scopes: ${name.slice(0, 40)} is unknown. Known are read, write, admin, ${SCOPES.join(', ')}.`)
    for (const scope of scopes) chosen.add(scope)
  }
  return SCOPES.filter((scope) => chosen.has(scope))
}
