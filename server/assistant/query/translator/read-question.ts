import { EVENT_LEVELS } from '../../../events/protocol/event.api.ts'
import type { KnownIndex } from './known-values.ts'
import { readNumber, readTimeSpan, type TimeSpan } from './times.ts'
import { type Dimension, isFiller, KEYWORDS, type Meaning, readPhrase } from './vocabulary.ts'
import { ISSUE_ID, readWords, type Word } from './words.ts'

/** The meaning of some words of a question. */
type Readable =
  | Meaning
  | {
      readonly is: 'value'
      readonly dimension: Dimension
      readonly values: readonly string[]
      readonly isNewest?: true
    }
  | { readonly is: 'number'; readonly number: number }
  | { readonly is: 'span'; readonly span: TimeSpan }
  | { readonly is: 'unknown' }

/** A part of a question with its meaning. Places are in UTF-16 units, `end` excluded. */
export type Item = Readable & {
  readonly start: number
  readonly end: number
  readonly isPlural: boolean
  /** Whether "and", "or" or a comma stands before it. */
  readonly isJoined: boolean
}

const CLASSES = ['low', 'medium', 'high']
const ERROR_TYPE = /^(?:[\w$]+[.:]+)*[A-Z][\w$]*(?:Error|Exception|Fault)(?=s?$)/

type Piece = { readonly meaning: Readable; readonly length: number }

/** The parts of a question, without words that say nothing. Pure. */
export function readQuestion(question: string, known: KnownIndex, now: Date): Item[] {
  const words = readWords(question, KEYWORDS, (word) => known.hasWord(word))
  const stems = words.map(({ stem, isQuoted }) => (isQuoted ? '"' : stem))
  const items: Item[] = []
  let isJoined = false
  for (let at = 0; at < words.length;) {
    const word = words[at]
    if (word === undefined) break
    const before = items.at(-1)
    const { meaning, length }: Piece = readPiece({ words, stems, at, word, before, known, now })
    const last = words[at + length - 1] ?? word
    const hasComma = question.slice(items.at(-1)?.end ?? 0, word.start).includes(',')
    if (meaning.is !== 'filler')
      items.push({
        ...meaning,
        start: word.start,
        end: last.end,
        isPlural: words.slice(at, at + length).some((one) => one.isPlural),
        isJoined: (isJoined || hasComma) && items.length > 0,
      })
    isJoined = meaning.is === 'filler' && (word.stem === 'and' || word.stem === 'or' || (isJoined && length === 1))
    at += length
  }
  return items
}

type Place = {
  readonly words: readonly Word[]
  readonly stems: readonly string[]
  readonly at: number
  readonly word: Word
  readonly before: Item | undefined
  readonly known: KnownIndex
  readonly now: Date
}

function readPiece({ words, stems, at, word, before, known, now }: Place): Piece {
  const wanted = before?.is === 'dimension' ? before.dimension : null
  const named = readNamed(word, stems, at, before, wanted)
  if (named !== null) return named
  const newest = readNewestReleases(words, at, known)
  if (newest !== null) return newest
  const value = known.find(words, at, wanted)
  const span = readTimeSpan(words, at, now)
  const phrase = readPhrase(stems, at)
  const lengths = [value?.length ?? 0, span?.length ?? 0, phrase?.length ?? 0]
  const longest = Math.max(...lengths)
  if (longest > 0) {
    if (span?.length === longest) return { meaning: { is: 'span', span: span.span }, length: longest }
    // A keyword that is also the name of a screen or a type is the keyword.
    const isWeak =
      value !== null &&
      ['screen', 'transaction', 'exception_type', 'platform'].includes(value.dimension) &&
      wanted === null
    if (value?.length === longest && !(isWeak && phrase?.length === longest))
      return { meaning: { is: 'value', dimension: value.dimension, values: value.values }, length: longest }
    if (phrase?.length === longest) return { meaning: phrase.meaning, length: longest }
  }
  if (wanted !== null && word.isQuoted)
    return { meaning: { is: 'value', dimension: wanted, values: [word.text] }, length: 1 }
  if (isFiller(word.stem) || KEYWORDS_OF_JOINING.has(word.stem)) return { meaning: { is: 'filler' }, length: 1 }
  const number = readNumber(word)
  if (number !== null) return { meaning: { is: 'number', number }, length: 1 }
  if (ISSUE_ID.test(word.text))
    return { meaning: { is: 'value', dimension: 'issue', values: [word.text.toUpperCase()] }, length: 1 }
  const type = ERROR_TYPE.exec(word.text)?.[0]
  if (type !== undefined) return { meaning: { is: 'value', dimension: 'exception_type', values: [type] }, length: 1 }
  const misspelt = known.findMisspelt(word.text)
  if (misspelt !== null)
    return { meaning: { is: 'value', dimension: misspelt.dimension, values: misspelt.values }, length: 1 }
  return { meaning: { is: 'unknown' }, length: 1 }
}

const KEYWORDS_OF_JOINING: ReadonlySet<string> = new Set(['and', 'or', 'the', 'from', 'to', 'in', 'on', 'of', 'with'])

const NEWEST = ['latest', 'newest', 'last', 'current', 'new']

/** "The latest release", "the previous version", "the last 2 releases". */
function readNewestReleases(words: readonly Word[], start: number, known: KnownIndex): Piece | null {
  let at = start
  const stem = (): string => words[at]?.stem ?? ''
  let place = ['previous', 'preceding', 'prior'].includes(stem()) ? 1 : NEWEST.includes(stem()) ? 0 : -1
  if (stem() === 'most' && words[at + 1]?.stem === 'recent') [place, at] = [0, at + 1]
  if (place < 0) return null
  at++
  const count = readNumber(words[at])
  if (count !== null) at++
  if (stem() === 'app') at++
  const noun = words[at]
  const isOther = count === null ? noun?.isPlural === true : place === 1
  if (noun === undefined || !['release', 'version', 'build'].includes(noun.stem) || isOther) return null
  const values = known.releases.slice(place, place + (count ?? 1))
  const meaning: Readable =
    values.length === 0 ? { is: 'unknown' } : { is: 'value', dimension: 'release', values, isNewest: true }
  return { meaning, length: at + 1 - start }
}

/** Values that are recognised by the noun before or behind them. */
function readNamed(
  word: Word,
  stems: readonly string[],
  at: number,
  before: Item | undefined,
  wanted: Dimension | null,
): Piece | null {
  const { stem } = word
  const level = EVENT_LEVELS.find((one) => one === stem)
  if (level !== undefined && (wanted === 'level' || stems[at + 1] === 'level'))
    return { meaning: { is: 'filter', dimension: 'level', values: [level] }, length: wanted === 'level' ? 1 : 2 }
  if (CLASSES.includes(stem) && wanted === 'device_class')
    return { meaning: { is: 'filter', dimension: 'device_class', values: [stem] }, length: 1 }
  if (['critical', ...CLASSES].includes(stem) && wanted === 'severity')
    return { meaning: { is: 'filter', dimension: 'severity', values: [stem] }, length: 1 }
  const isUser = before?.is === 'measure' && before.measure === 'users' && !before.isPlural
  if (isUser && stem === 'id') return { meaning: { is: 'filler' }, length: 1 }
  if (isUser && (word.isQuoted || /[\d@]/.test(word.text)))
    return { meaning: { is: 'value', dimension: 'user', values: [word.text] }, length: 1 }
  return null
}
