import { splitQuery, requiredTerms, type QueryTerm } from '#shared/query-terms.ts'

/** The filter of an issue's events: `release:2.4.0 user:7 device:"Pixel 7a" timeout`, as issue queries are written. Pure. */

export type EventOnly = {
  release?: string[]
  environment?: string[]
  level?: ('fatal' | 'error' | 'warning' | 'info' | 'debug')[]
  user?: string
  q?: string
}

const LEVELS = ['fatal', 'error', 'warning', 'info', 'debug'] as const

/**
 * A filter as the API takes it: the query, and the terms that have a parameter of their own, by which more events are
 * searched per page. These terms are blank in the query, so that its places are the places of the filter.
 */
export function eventOnly(text: string): EventOnly {
  const only: EventOnly = {}
  let q = text
  // Without its term, an AND would be a mistake.
  const hasAnd = splitQuery(text).some(({ kind, text: word }) => kind === 'keyword' && word === 'AND')
  for (const term of hasAnd ? [] : requiredTerms(text))
    if (takes(only, term)) q = q.slice(0, term.start) + ' '.repeat(term.end - term.start) + q.slice(term.end)
  q = q.trimEnd()
  if (q !== '') only.q = q
  return only
}

/** Whether the parameters say all of a term. */
function takes(only: EventOnly, { key, isNegated, values }: QueryTerm): boolean {
  if (isNegated || values.some(({ text, isQuoted }) => text.includes('*') && !isQuoted)) return false
  const texts = values.map(({ text }) => text)
  const [first] = texts
  const levels = LEVELS.filter((level) => texts.some((one) => one.toLowerCase() === level))
  if (key === 'release') only.release = [...(only.release ?? []), ...texts]
  else if (key === 'environment') only.environment = [...(only.environment ?? []), ...texts]
  else if (key === 'level' && levels.length === texts.length) only.level = [...(only.level ?? []), ...levels]
  else if (key === 'user.id' && only.user === undefined && texts.length === 1 && first !== '') only.user = first
  else return false
  return true
}
