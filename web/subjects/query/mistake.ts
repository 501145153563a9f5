import { ApiError } from '../../api/call.ts'
import { parseHints, isPlace, movedBy, type QueryHint } from '../../api/query-hints.ts'

/** The mistake that a list found in its query. Positions refer to the query; `end` is exclusive. Pure. */

export type QueryMistake = {
  readonly sentence: string
  readonly position: { readonly start: number; readonly end: number } | null
  readonly hints: readonly QueryHint[]
}

/**
 * The mistake of a refused query; null for any other error.
 * @param offset where the query of the field begins in the one that was sent
 */
export function parseQueryMistake(error: Error | null, offset = 0): QueryMistake | null {
  if (!(error instanceof ApiError) || error.status !== 400 || !/^q\b/.test(error.message)) return null
  const { position, hints } = fieldsOf(error.queryMistake)
  return {
    sentence: error.message,
    position: isPlace(position) ? movedBy(position, -offset) : null,
    hints: parseHints(hints).map((hint) => movedBy(hint, -offset)),
  }
}

function fieldsOf(header: string | null): { position?: unknown; hints?: unknown } {
  try {
    const given: unknown = JSON.parse(header ?? '{}')
    return typeof given === 'object' && given !== null ? given : {}
  } catch {
    return {}
  }
}

/** The sentence without the name of the parameter, and without the place, which is marked. */
export function mistakeSentence({ sentence }: QueryMistake, query: string): string {
  const plain = sentence
    .replace(/^q: /, '')
    .replace(/^q /, 'the query ')
    .replace(/ \(character \d+\)(?=\.$)/, '')
  const [word = ''] = plain.split(' ')
  const isKey = query.toLowerCase().includes(`${word.toLowerCase()}:`)
  return isKey ? plain : plain.charAt(0).toUpperCase() + plain.slice(1)
}

/** So many characters around the place. */
const AROUND = 24

/** The place in a query, and a little of what is around it. */
export function queryExcerpt(query: string, { start, end }: { start: number; end: number }) {
  const from = Math.max(0, start - AROUND)
  const to = Math.min(query.length, end + AROUND)
  return {
    before: (from > 0 ? '…' : '') + query.slice(from, start),
    marked: query.slice(start, end),
    after: query.slice(end, to) + (to < query.length ? '…' : ''),
  }
}
