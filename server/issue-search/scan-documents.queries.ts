import { sql, type RawBuilder } from 'kysely'
import type { Connection } from '../storage/database.ts'
import { askedKey } from './facts.ts'
import { factTerm, factPrefix } from './index-terms.ts'
import { escapeLike, likeOf } from './like.ts'
import { printQuery } from './print-query.ts'
import { queryError } from './query-error.ts'
import { isInfixPattern } from './query-keys.ts'
import type { Facet, Term } from './query.ts'

/** Maximum of documents that one pattern scans, 10 to 20 µs each (docs/decisions/search-index.md). */
export const MAX_SCANNED_DOCUMENTS = 10_000

/** Whether a value of the term has text after a `*`. */
export const hasInfix = (term: Term): term is Facet => term.kind === 'facet' && term.values.some(isInfixPattern)

/** Returns the term with each pattern cut after its first `*`, which the index can answer. */
export const prefixesOf = (term: Facet): Facet => ({
  ...term,
  values: term.values.map(({ text, glob }) => ({ text: glob ? text.replace(/\*.*/s, '*') : text, glob })),
})

/**
 * Returns the issues with a value that matches a pattern with text after its `*`. The index answers prefixes only, so
 * this scans the documents with the right prefix.
 * @param within query for the ids of the issues to scan
 * @throws AppError invalid, naming the term, if there are more than {@link MAX_SCANNED_DOCUMENTS}
 */
export async function scanDocuments(
  db: Connection,
  term: Facet,
  within: RawBuilder<unknown>,
  name: string,
): Promise<readonly string[]> {
  const key = askedKey(term.key)
  const patterns = term.values.map(({ text, glob }) =>
    glob ? likeOf(factPrefix(key, text)) : escapeLike(factTerm(key, text)),
  )
  // The bytes of the whole document are compared first, where a `*` may reach into the next term: that costs half as
  // much as unnesting the document, and few are left to unnest.
  const inBytes = patterns.map((pattern) => Buffer.from(`%${pattern}\0%`))
  const { rows } = await sql<{ ids: string[] | null }>`
    with f as materialized (select w.id from (${within}) w limit ${MAX_SCANNED_DOCUMENTS + 1})
    select case when n <= ${MAX_SCANNED_DOCUMENTS} then array(
      select f.id from f join issue_search s on s.issue_id = f.id
      where tsvectorsend(s.document) like any(${inBytes}::bytea[])
        and exists (select from unnest(tsvector_to_array(s.document)) l where l like any(${patterns}::text[])))::text[] end as ids
    from (select count(*) as n from f) c`.execute(db)
  const ids = rows[0]?.ids ?? null
  if (ids === null)
    throw queryError(
      name,
      `${printQuery(term).slice(0, 100)} would scan more than ${MAX_SCANNED_DOCUMENTS.toLocaleString('en')} issues; ` +
        'write more before the *, or narrow the search',
      term.at ?? { start: 0, end: 0 },
    )
  return ids
}
