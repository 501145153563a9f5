import { setImmediate } from 'node:timers/promises'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { splitSearchTerms } from './index-terms.ts'
import { selectIssueIds, type IssueFilter } from './list.queries.ts'
import { nearest, type Correction } from './query-error.ts'
import type { Query, Term } from './query.ts'
import { selectWords } from './search.queries.ts'

/** Misspelt words of a query that finds nothing: `checkut` finds what `checkout` does. */

type FreeText = Extract<Term, { kind: 'text' }>

/** Issues whose words are known, the newest of the list; about 40 µs each. */
const MAX_ISSUES = 1_000
/** Their words, the most frequent. */
const MAX_WORDS = 20_000
/** Words of a query that are looked up. */
const MAX_CORRECTED = 5
/** Shorter words, numbers and ids are similar to too much. */
const CORRECTABLE = /^\p{L}{4,40}$/u

/**
 * Replaces words of free text that no issue of the organisation has by similar words of issues in the list. Words in quotes
 * stay, and so does what OR or NOT joins.
 * @param scope the projects of the list
 * @param isFound whether any issue of the organisation has a word
 * @returns null when nothing is replaced
 */
export async function correctWords(
  db: Connection,
  actor: OrgActor,
  query: Query,
  scope: IssueFilter,
  isFound: (word: Query) => Promise<boolean>,
): Promise<{ readonly query: Query; readonly corrections: readonly Correction[] } | null> {
  const parts = query.kind === 'and' ? query.parts : [query]
  const words = [...new Set(parts.filter(isFreeText).flatMap(({ text }) => wordsIn(text)))].slice(0, MAX_CORRECTED)
  const unknown: string[] = []
  for (const word of words) if (!(await isFound({ kind: 'text', text: word, whole: false }))) unknown.push(word)
  if (unknown.length === 0) return null
  const known = (await selectWords(db, await selectIssueIds(db, actor, scope, MAX_ISSUES), MAX_WORDS)).filter((word) =>
    CORRECTABLE.test(word),
  )
  const corrections: Correction[] = []
  for (const word of unknown) {
    const replacement = nearest(word, known)
    if (replacement !== null) corrections.push({ word, replacement })
    // A word takes some milliseconds of the thread that takes requests.
    await setImmediate()
  }
  if (corrections.length === 0) return null
  const corrected = parts.map((part) =>
    isFreeText(part) ? { ...part, text: withCorrections(part.text, corrections) } : part,
  )
  const [only] = corrected
  return { query: query.kind === 'and' || only === undefined ? { kind: 'and', parts: corrected } : only, corrections }
}

const isFreeText = (query: Query): query is FreeText => query.kind === 'text' && !query.whole

const wordsIn = (text: string): string[] =>
  splitSearchTerms(text, false).flatMap(({ word }) => (CORRECTABLE.test(word) ? [word] : []))

const withCorrections = (text: string, corrections: readonly Correction[]): string =>
  corrections.reduce((so, { word, replacement }) => so.replaceAll(wholeWord(word), replacement), text)

/** Letters only, so that nothing needs to be escaped. */
const wholeWord = (word: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'giu')

/** Where a corrected word is written in a query; null where case changes its letters. */
export function placeOfWord(text: string, word: string): { readonly start: number; readonly end: number } | null {
  const match = wholeWord(word).exec(text)
  return match === null ? null : { start: match.index, end: match.index + match[0].length }
}
