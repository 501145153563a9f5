import { invalid } from '../../platform/kernel/errors.ts'
import { membersAmong } from '../../identity/team/members.queries.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { OwnershipRule } from './ownership-rules.api.ts'

/**
 * Checks that every user in the rules is a member. Former members in the rules `before` may stay, so that other rules
 * can be saved; their rules are skipped.
 * @throws AppError invalid, naming the first invalid rule
 */
export async function checkOwnershipRules(
  db: Connection,
  orgId: string,
  rules: readonly OwnershipRule[],
  before: readonly OwnershipRule[] = [],
): Promise<void> {
  const known = new Set(before.map((rule) => rule.user_id))
  const added = [...new Set(rules.flatMap(({ user_id: id }) => (id === null || known.has(id) ? [] : [id])))]
  const members = await membersAmong(db, orgId, added)
  for (const [index, { user_id: id }] of rules.entries())
    if (id !== null && !known.has(id) && !members.has(id))
      throw invalid(`ownership_rules.${index}.user_id is not a member of this organisation.`)
}
