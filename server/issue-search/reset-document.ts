import { addJob } from '../jobs/task.ts'
import type { Tx } from '../storage/database.ts'
import { termsToAdd, indexTermsOf } from './document.ts'
import type { Fact } from './facts.ts'
import { INDEX_TERMS } from './write-index-terms.ts'
import { deleteNewTerms, restart } from './search.queries.ts'

/**
 * Takes everything out of an issue's document but what one event says. A job puts back what other stored events say:
 * nothing else does, digestion remembers what it wrote before.
 */
export async function resetDocument(
  tx: Tx,
  issueId: string,
  from: { readonly texts: readonly (string | null)[]; readonly facts: readonly Fact[] },
): Promise<void> {
  await deleteNewTerms(tx, issueId)
  await restart(tx, issueId, termsToAdd([], indexTermsOf(from.texts, from.facts)))
  await addJob(tx, INDEX_TERMS)
}
