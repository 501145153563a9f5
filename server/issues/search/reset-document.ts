import { addJob } from '../../platform/jobs/task.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { termsToAdd, buildIndexTerms } from './document.ts'
import type { Fact } from './facts.ts'
import { INDEX_TERMS } from './index-documents.ts'
import { deleteNewTerms, resetTerms } from './search.queries.ts'

/**
 * Replaces an issue's document by the terms of one event. A job then adds the terms of other stored events, because
 * digestion does not write terms again that it wrote before.
 */
export async function resetDocument(
  tx: Tx,
  issueId: string,
  from: { readonly texts: readonly (string | null)[]; readonly facts: readonly Fact[] },
): Promise<void> {
  await deleteNewTerms(tx, issueId)
  await resetTerms(tx, issueId, termsToAdd([], buildIndexTerms(from.texts, from.facts)))
  await addJob(tx, INDEX_TERMS)
}
