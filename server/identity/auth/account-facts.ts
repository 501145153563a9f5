import type { AccountFactKind, Fact, FactOf } from '../../history/facts/kinds.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { selectMemberships } from './auth.queries.ts'

type AccountFact = { readonly [K in AccountFactKind]: Pick<FactOf<K>, 'kind' | 'data'> }[AccountFactKind]

/**
 * A change of an account, as one fact per organisation in which its user is an active member: the audit log and the
 * webhooks of each have it, whatever organisation the session belongs to.
 */
export async function accountFacts(tx: Tx, userId: string, fact: AccountFact): Promise<Fact[]> {
  const memberships = await selectMemberships(tx, userId)
  return memberships.map((row): Fact => ({ ...fact, orgId: row.org_id, userId }))
}
