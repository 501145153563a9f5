import { sql, type RawBuilder } from 'kysely'
import { invalid } from '../kernel/errors.ts'
import type { Connection } from '../storage/database.ts'
import { escapeLike, likeOf } from './compile-query.queries.ts'
import { askedKey } from './facts.ts'
import { factTerm, factPrefix } from './index-terms.ts'
import { printQuery } from './print-query.ts'
import { isInfixPattern } from './query-keys.ts'
import type { Facet, Term } from './query.ts'

/** Documents one pattern is looked for in, 10 to 20 µs each (docs/decisions/search-index.md). */
export const MAX_SCANNED_DOCUMENTS = 10_000

/** Whether what it asks for goes on after a `*`. */
export const hasInfix = (term: Term): term is Facet => term.kind === 'facet' && term.values.some(isInfixPattern)

/** As far as the index knows: values that begin as they should. */
export const prefixesOf = (term: Facet): Facet => ({
  ...term,
  values: term.values.map(({ text, glob }) => ({ text: glob ? text.replace(/\*.*/s, '*') : text, glob })),
})

/**
 * Issues that have a value a pattern asks for that goes on after its `*`. The index knows beginnings only: what it finds
 * by them is looked through, once.
 * @param within ids of the issues that matter and have a value that begins so
 * @throws AppError invalid, naming the term, when they are too many
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
  // First in the bytes of the whole document, where a `*` may reach into the next term: that costs half of taking it
  // apart, and leaves few to be taken apart.
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
    throw invalid(
      `${name}: ${printQuery(term).slice(0, 100)} would scan more than ${MAX_SCANNED_DOCUMENTS.toLocaleString('en')} issues; ` +
        `write more before the *, or narrow the search (character ${(term.at ?? 0) + 1}).`,
    )
  return ids
}
