import { readPeriods, type Period } from './time-words.ts'
import { readWords, stemWord } from '../query/translator/words.ts'

/** A question as far as its words alone say what it is about; names of the organisation's data are looked up later. */
export type Question = {
  /** In lower case, one line, without marks at its end. */
  readonly text: string
  /** As it was written. */
  readonly written: string
  readonly period: Period | null
  /** The time that the one is compared with. */
  readonly against: Period | null
  /** Versions, as written: `4.11`, `shop@4.12.0`, and the words `latest` and `previous`. */
  readonly releases: readonly string[]
  /** Short id or UUID. */
  readonly issue: string | null
  readonly user: string | null
  readonly os: string | null
  readonly device: string | null
  readonly environment: string | null
  /** Text in quotes, as written. */
  readonly quoted: string | null
  /** "top 3", "the five worst". */
  readonly limit: number | null
  /** Further conditions of issues, as terms of their search. */
  readonly terms: readonly string[]
}

const SYSTEMS = ['Android', 'iOS', 'iPadOS', 'macOS', 'Windows', 'Linux', 'tvOS', 'watchOS', 'ChromeOS', 'HarmonyOS']
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/i
const SHORT_ID = /(?<![\w@.-])([A-Za-z][A-Za-z0-9-]{0,49}-\d{1,9})(?![\w.-]*\w)/g
const VERSION =
  /(?<![\w.@-])((?:[A-Za-z][\w.-]{0,100}@)?v?\d{1,9}(?:\.\d{1,9}){1,4}(?:[-+][0-9A-Za-z.+-]{1,40})?)(?![\w@]|\.\d)(?!\s*(?:%|percent|ms|sec|seconds?|minutes?|hours?|days?)\b)(?!\s*%)/g
const NAMED = /\b(?:release|version|build)\s+(\d{1,9}|[A-Za-z][\w.-]*@[\w.+-]+)(?![\w.])/g
const DEVICE =
  /\b((?:samsung\s+)?galaxy [a-z]?\d+\w*(?: ultra| plus)?|pixel \d\w*(?: pro| xl)?|iphone ?\d+(?:,\d+)?(?: pro max| pro| mini| plus)?|ipad[\w,]*|sm-[a-z]\d+\w*|redmi [\w ]{1,12}\d|oneplus \d\w*|moto [a-z]\d*)\b/i
const USER =
  /\b(?:user|customer|account)s?\s+(?:with (?:the )?id\s+|id\s+|called\s+|named\s+|#)?["'“]?([\w.+-]+@[\w-]+(?:\.[\w-]+)+|[A-Za-z_-]*\d[\w-]{0,80}|[0-9a-f-]{36})["'”]?/i
const EMAIL = /\b[\w.+-]{1,64}@[A-Za-z][\w-]*(?:\.[\w-]+){1,5}\b/

/** Expressions look at no more of a question. */
const MAX_CHARACTERS = 1_000

/** Reads the words of a question. */
export function readQuestion(written: string, now: Date): Question {
  const oneLine = written
    .normalize('NFKC')
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .replaceAll(/[‘’]/g, "'")
    .trim()
    .slice(0, MAX_CHARACTERS)
  const text = correctWords(oneLine.toLowerCase().replace(/[?!.\s]+$/, ''))
  const userAs = USER.exec(oneLine)?.[1] ?? EMAIL.exec(oneLine)?.[0] ?? null
  // An id of a user or an e-mail address is no version, a version is no short id.
  const rest = userAs === null ? oneLine : oneLine.replace(userAs, ' ')
  const device = DEVICE.exec(rest)?.[1]?.replace(/^samsung\s+(?=galaxy)/i, '') ?? null
  const withoutDevice = device === null ? rest : rest.replace(new RegExp(device.replaceAll(/[^\w ]/g, '.'), 'i'), ' ')
  return {
    text,
    written: oneLine,
    ...readPeriods(userAs === null ? text : text.replace(userAs.toLowerCase(), ' '), now),
    releases: releasesIn(withoutDevice),
    issue: UUID.exec(rest)?.[0].toLowerCase() ?? shortIdIn(withoutDevice),
    user: userAs,
    os:
      SYSTEMS.find((name) => new RegExp(`\\b${name}\\b`, 'i').test(text)) ??
      (/\biphones?\b/.test(text) && device === null ? 'iOS' : null),
    device,
    environment:
      /\b(production|staging|development|testing|qa|preview)\b/.exec(text.replace(/\bprod\b/, 'production'))?.[1] ??
      null,
    quoted: /["“]([^"”]{1,200})["”]/.exec(oneLine)?.[1] ?? null,
    limit: limitIn(text),
    terms: termsIn(text, oneLine),
  }
}

function releasesIn(text: string): string[] {
  const places = new Map<number, string>()
  for (const match of text.matchAll(VERSION)) places.set(match.index, (match[1] ?? '').replace(/^v(?=\d)/, ''))
  for (const match of text.matchAll(NAMED)) places.set(match.index, match[1] ?? '')
  for (const match of text.matchAll(
    /\b(?:the |our )?(latest|newest|current|new|last|previous|prior|former|one before)\s?(?:release|version|build|rollout|deploy(?:ment)?)?\b/gi,
  )) {
    const word = (match[1] ?? '').toLowerCase()
    const isAlone = !/(?:release|version|build|rollout|deploy(?:ment)?)$/i.test(match[0].trim())
    if (isAlone && word !== 'one before' && !/^(?:the )?(?:latest|newest|previous)$/i.test(match[0].trim())) continue
    if (
      isAlone &&
      /^\s*(?:one|two|three|\d+)?\s*(?:hour|day|week|month|minute|crash|issue|event|error|alert|bug)/i.test(
        text.slice(match.index + match[0].length),
      )
    )
      continue
    places.set(match.index, /latest|newest|current|new|last/.test(word) ? 'latest' : 'previous')
  }
  const ordered = [...places].toSorted(([a], [b]) => a - b).map(([, version]) => version)
  return [...new Set(ordered)].slice(0, 4)
}

const BOUNDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:more than|over|above)/, '>'],
  [/^at least/, '>='],
  [/^(?:fewer than|less than|under|below)/, '<'],
  [/^at most/, '<='],
]

/** "more than 100 users", "TypeErrors", "warnings". */
function termsIn(text: string, written: string): string[] {
  const counts = text.matchAll(
    /\b(?:more than|over|above|at least|fewer than|less than|under|below|at most) (\d{1,9}) (users|people|customers|events|times|occurrences)\b/g,
  )
  const types = written.matchAll(/(?<![\w."“])([A-Z][\w$]*(?:Error|Exception|Fault))s?\b/g)
  return [
    ...[...counts].map(([all, n, of = '']) => {
      const bound = BOUNDS.find(([words]) => words.test(all))?.[1] ?? ''
      return `${/users|people|customers/.test(of) ? 'users' : 'events'}:${bound}${n}`
    }),
    ...[...types].map(([, type]) => `error.type:${type}`),
    ...(/\bwarnings?\b/.test(text) ? ['level:warning'] : []),
  ]
}

function shortIdIn(text: string): string | null {
  for (const match of text.matchAll(SHORT_ID))
    if (!/^(?:last|past|top|sm|utf|http|sha|md|covid|gpt|ios|android|iphone)-/i.test(match[0]) && !/^\d/.test(match[0]))
      return (match[1] ?? '').toUpperCase()
  return null
}

function limitIn(text: string): number | null {
  const found =
    /\b(?:top|worst|first|slowest|biggest|newest|latest)\s+(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)\b(?!\s*(?:hour|day|week|month|minute))/.exec(
      text,
    ) ??
    /\b(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)\s+(?:worst|top|most|biggest|slowest|fastest|newest|latest|oldest|main)\b/.exec(
      text,
    )
  if (found?.[1] === undefined) return null
  const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
  const n = /^\d+$/.test(found[1]) ? Number(found[1]) : words.indexOf(found[1])
  return Math.min(Math.max(n, 1), 25)
}

/** Words of questions that are long enough to be recognised with one wrong letter. */
const WORDS: ReadonlySet<string> = new Set(
  [
    'adoption affected affect alerts android assigned average before compare compared crashed crashes crashing critical',
    'customer customers device devices endpoints environment environments errors events exception exceptions',
    'fastest fortnight friday frozen health healthy highest issues largest latest lowest minute minutes monday month months',
    'overview performance previous problem problems production regress regressed regression regressions release released',
    'releases resolve resolved rollout saturday screen screens session sessions slower slowest stability stable staging',
    'startup status sunday thursday transaction transactions tuesday unassigned unhandled unresolved version versions vitals',
    'wednesday weekend yesterday',
  ]
    .join(' ')
    .split(' ')
    .filter((word) => word.length >= 6),
)

/** Corrects one wrong, missing, additional or swapped letter in words of questions, in lower case. */
function correctWords(text: string): string {
  let corrected = ''
  let end = 0
  for (const word of readWords(text, WORDS, () => false)) {
    if (word.text.length < 6 || !WORDS.has(word.stem) || word.stem[0] !== word.text[0]) continue
    if ([word.text, stemWord(word.text)].includes(word.stem)) continue
    corrected += text.slice(end, word.start) + word.stem + (word.isPlural && !word.stem.endsWith('s') ? 's' : '')
    end = word.end
  }
  return corrected + text.slice(end)
}

/** How answers write figures and texts of events. */

export const count = (n: number): string => Math.round(n).toLocaleString('en')

/** `4.25 %`; a rate of crashes needs two digits. */
export const percent = (fraction: number): string => `${(fraction * 100).toFixed(2)} %`

/** `850 ms`, `1.24 s`. */
export const duration = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`)

/** `1 event`, `2 events`. */
export const plural = (n: number, one: string, many = `${one}s`): string => (n === 1 ? one : many)

const MAX_TEXT = 120

/**
 * A text that comes from events, as one line without markup: it is data. Markdown shows it as code.
 */
export const quoted = (text: string): string => `\`${plain(text, MAX_TEXT).replaceAll('`', "'")}\``

/** One line, without control and formatting characters, cut at a length. */
export function plain(text: string, max = 200): string {
  const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line
}
