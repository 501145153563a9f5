import { sql, type RawBuilder } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'
import { fieldMatches } from './compile-query.queries.ts'
import { askedKey } from './facts.ts'
import { factTerm, factPrefix } from './index-terms.ts'
import { printQuery } from './print-query.ts'
import { queryError, escapeLike, toLikePattern } from './query-error.ts'
import { askedWords, patternBeginning, needsScan } from './query-keys.ts'
import { grouped, type Facet, type Field, type Query, type Term } from './query.ts'

/** Maximum of documents that one pattern scans, 10 to 20 µs each (docs/decisions/search-index.md). */
const MAX_SCANNED_DOCUMENTS = 10_000

/** Whether the index cannot answer a term, because a value has text after a `*`. */
export const isScanned = (term: Term): term is Facet | Field =>
  (term.kind === 'facet' || term.kind === 'field') && needsScan(term)

/** Returns what the index can answer of a term: each pattern up to its first `*`. Null if that is nothing. */
export function toPrefixQuery(term: Facet | Field): Query | null {
  if (term.kind === 'field') {
    const texts = term.values.map((value) =>
      askedWords(value)
        .map(({ word }) => word)
        .join(' '),
    )
    if (texts.includes('')) return null
    return grouped(
      'or',
      texts.map((text) => ({ kind: 'text', text, whole: false })),
    )
  }
  if (term.values.some((value) => value.glob && value.text.startsWith('*'))) return { kind: 'has', key: term.key }
  return {
    ...term,
    values: term.values.map((value) => ({
      text: value.glob ? `${patternBeginning(value)}*` : value.text,
      glob: value.glob,
    })),
  }
}

/**
 * Returns the issues with a value that matches a pattern with text after its `*`. The index answers prefixes only, so
 * this scans the issues with the right prefix: their documents or, for a text of the newest event, their rows.
 * @param within query for the ids of the issues to scan
 * @throws AppError invalid, naming the term, if there are more than {@link MAX_SCANNED_DOCUMENTS}
 */
export async function scanDocuments(
  db: Connection,
  term: Facet | Field,
  within: RawBuilder<unknown>,
  name: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ ids: string[] | null }>`
    with f as materialized (select w.id from (${within}) w limit ${MAX_SCANNED_DOCUMENTS + 1})
    select case when n <= ${MAX_SCANNED_DOCUMENTS} then array(
      ${term.kind === 'field' ? rowsLike(term) : documentsLike(term)})::text[] end as ids
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

const rowsLike = (term: Field): RawBuilder<unknown> =>
  sql`select f.id from f join issues i on i.id = f.id where ${fieldMatches(term)}`

function documentsLike(term: Facet): RawBuilder<unknown> {
  const key = askedKey(term.key)
  const patterns = term.values.map(({ text, glob }) =>
    glob ? toLikePattern(factPrefix(key, text)) : escapeLike(factTerm(key, text)),
  )
  // The bytes of the whole document are compared first, where a `*` may reach into the next term: that costs half as
  // much as unnesting the document, and few are left to unnest.
  const inBytes = patterns.map((pattern) => Buffer.from(`%${pattern}\0%`))
  return sql`select f.id from f join issue_search s on s.issue_id = f.id
    where tsvectorsend(s.document) like any(${inBytes}::bytea[])
      and exists (select from unnest(tsvector_to_array(s.document)) l where l like any(${patterns}::text[]))`
}
