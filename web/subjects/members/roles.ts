import { ROLES, roleAtLeast, type Role } from '#shared/permissions.ts'
import { membersTexts as texts } from './texts.ts'

/** Roles as they are listed, highest first. */
export const ROLES_BY_RANK: readonly Role[] = ROLES.toReversed()

/**
 * The addresses in a pasted text, each once. `Ada <ada@example.com>` gives its address. Words that are no address are among
 * them: the server refuses them by name.
 */
export function addressesIn(text: string): string[] {
  const parts = text
    .split(/[,;\n]+/u)
    .flatMap((entry) => entry.match(/<[^<>]*>/gu) ?? entry.split(/\s+/u))
    .map((part) => part.replace(/^[<"'(]+|[>"')]+$/gu, '').trim())
    .filter((part) => part !== '')
  return [...new Map(parts.map((part) => [part.toLowerCase(), part])).values()]
}

/** Why the member with `role` cannot get the role `next` from a user with the role `own`; undefined when they can. */
export function whyNotRole(own: Role, role: Role, next: Role): string | undefined {
  if (role === 'owner' && own !== 'owner') return texts.onlyOwners
  return roleAtLeast(own, next) ? undefined : texts.noHigher
}
