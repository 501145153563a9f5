import { invalid } from '../kernel/errors.ts'
import { membersAmong } from '../team/members.queries.ts'
import type { Connection } from '../storage/database.ts'
import type { OwnershipRule } from './ownership-rules.api.ts'

/**
 * Whether every person named is a member. Who was named before and has left since may stay: such a rule is skipped,
 * and must not stand in the way of saving another.
 * @throws AppError invalid, naming the first rule that cannot be saved
 */
export async function checkOwnershipRules(
  db: Connection,
  orgId: string,
  rules: readonly OwnershipRule[],
  before: readonly OwnershipRule[] = [],
): Promise<void> {
  const known = new Set(before.map((rule) => rule.user_id))
  const unsure = [...new Set(rules.flatMap(({ user_id: id }) => (id === null || known.has(id) ? [] : [id])))]
  const members = await membersAmong(db, orgId, unsure)
  for (const [index, { user_id: id }] of rules.entries())
    if (id !== null && !known.has(id) && !members.has(id))
      throw invalid(`ownership_rules.${index}.user_id is not a member of this organisation.`)
}
