import { correctWords } from './spelling.ts'
import { readPeriods, type Period } from './time-words.ts'

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
