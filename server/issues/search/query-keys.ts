import { EVENT_LEVELS } from '../../events/protocol/event.api.ts'
import { ISSUE_STATUSES, SEVERITIES } from '#shared/issue-values.ts'
import type { IssueStatus } from '../rules/issue.api.ts'
import { isOwnKey, isUserKey } from './facts.ts'
import { type QueryLexer, endsTerm } from './query-lexer.ts'
import { splitSearchTerms, type SearchTerm, isRecurring } from './index-terms.ts'
import { nearest, type Span } from './query-error.ts'
import {
  COUNT_OPS,
  type Facet,
  type Field,
  MAX_TERMS,
  type Pattern,
  type Query,
  type Term,
  type TextField,
} from './query.ts'
import { readTime } from './query-time.ts'

/** Keys of terms, the values that each takes, and the term that they become. */

/** Other names of keys, also those that other trackers use (docs/decisions/query-language.md). */
export const ALIASES: Readonly<Record<string, string>> = {
  status: 'is',
  assignee: 'assigned',
  assignee_id: 'assigned',
  owner: 'assigned',
  firstseen: 'first_seen',
  lastseen: 'last_seen',
  firstrelease: 'first_release',
  lastrelease: 'last_release',
  event_count: 'events',
  user_count: 'users',
  times_seen: 'events',
  timesseen: 'events',
  eventcount: 'events',
  usercount: 'users',
  env: 'environment',
  browser: 'browser.name',
  os: 'os.name',
  device: 'device.model',
  runtime: 'runtime.name',
  sdk: 'sdk.name',
  'http.url': 'url',
  'platform.name': 'platform',
  'issue.id': 'issue',
  short_id: 'issue',
  location: 'culprit',
  'error.value': 'message',
  'error.handled': 'handled',
  'error.unhandled': 'unhandled',
  'issue.priority': 'severity',
  assigned_or_suggested: 'assigned',
  'user.name': 'user.username',
  'error.type': 'type',
  'device.name': 'device.model',
}

/** `hasOwn`, because a tag may be called `constructor`, which every object inherits. */
export const resolveKeyAlias = (key: string): string => (Object.hasOwn(ALIASES, key) ? (ALIASES[key] ?? key) : key)

/** A value as written in the query. */
type Value = { readonly text: string; readonly isQuoted: boolean; readonly at: number; readonly end: number }
type Reader = (lexer: QueryLexer, key: string, values: readonly Value[], at: Span) => Term

const textsOf = (values: readonly Value[]): string[] => [...new Set(values.map(({ text }) => text))]

/** Counters that throw once a query has too many values, or values that scan issues. */
export type Bounds = { readonly values: (more: number) => void; readonly scanned: (values: number) => void }

/** Whether text follows a `*`, also at the beginning. */
export const isInfixPattern = ({ text, glob }: Pattern): boolean => glob && text.indexOf('*') < text.length - 1

/** Reads values of a closed list. */
function oneOf<const T extends string>(
  known: readonly T[],
  term: (values: readonly T[]) => Term,
  aliases: Readonly<Record<string, T>> = {},
): Reader {
  return (lexer, key, values) => {
    const wanted = values.map(({ text, at, end }) => {
      const word = text.toLowerCase()
      const value = Object.hasOwn(aliases, word) ? aliases[word] : known.find((one) => one === word)
      if (value === undefined) {
        if (key === 'is' && Object.hasOwn(IS_WORDS, word))
          throw lexer.refusal(`${word} stands alone, as in is:${word} OR is:${known[0]}`, at, { to: end })
        const also = key === 'is' && values.length === 1 ? Object.keys(IS_WORDS) : []
        const replacement = nearest(text, [...known, ...also])
        const sentence = `No ${key} "${text.slice(0, 50)}". Did you mean ${replacement ?? ''}?`
        throw lexer.refusal(`${key} takes ${known.join(', ')}`, at, {
          to: end,
          hints: replacement === null ? [] : [{ start: at, end, sentence, replacement }],
        })
      }
      return value
    })
    return term([...new Set(wanted)])
  }
}

/** Reads texts in which `*`, outside quotes, stands for any characters. */
function patternsOf(values: readonly Value[]): Pattern[] {
  const patterns = new Map<string, Pattern>()
  for (const { text, isQuoted } of values) {
    const glob = !isQuoted && text.includes('*')
    const plain = glob ? text.replaceAll(/\*{2,}/g, '*') : text
    patterns.set(`${glob} ${plain}`, { text: plain, glob })
  }
  return [...patterns.values()]
}

const flag =
  (yes: boolean): Reader =>
  (lexer, key, [value]) => {
    const text = value?.text.toLowerCase() ?? ''
    if (!['true', 'yes', '1', 'false', 'no', '0'].includes(text))
      throw lexer.refusal(`${key} takes true or false`, value?.at, value === undefined ? {} : { to: value.end })
    return { kind: 'unhandled', value: ['true', 'yes', '1'].includes(text) === yes }
  }

/** Other names of statuses. */
const STATUS_ALIASES: Readonly<Record<string, IssueStatus>> = { archived: 'ignored', escalating: 'escalated' }

/** Other values of `is:`, which must stand alone. */
const IS_WORDS: Readonly<Record<string, (at: Span) => Term>> = {
  assigned: () => ({ kind: 'has', key: 'assigned' }),
  unassigned: (at) => ({ kind: 'assigned', values: ['none'], at }),
  unhandled: () => ({ kind: 'unhandled', value: true }),
  handled: () => ({ kind: 'unhandled', value: false }),
}

const READERS: Readonly<Record<string, Reader>> = {
  is: oneOf(ISSUE_STATUSES, (values) => ({ kind: 'status', values }), STATUS_ALIASES),
  level: oneOf(EVENT_LEVELS, (values) => ({ kind: 'level', values })),
  severity: oneOf(SEVERITIES, (values) => ({ kind: 'severity', values })),
  platform: (_lexer, _key, values) => ({ kind: 'platform', values: patternsOf(values) }),
  assigned: (_lexer, _key, values, at) => ({
    kind: 'assigned',
    values: [...new Set(textsOf(values).map((text) => (/^(me|none)$/i.test(text) ? text.toLowerCase() : text)))],
    at,
  }),
  project: (_lexer, _key, values, at) => ({ kind: 'project', values: textsOf(values), at }),
  unhandled: flag(true),
  handled: flag(false),
  user: (lexer, _key, values, at) => readUser(lexer, values, at),
  issue: (_lexer, _key, values) => ({ kind: 'issue', values: textsOf(values).map((text) => text.toUpperCase()) }),
  'user.id': (lexer, key, values) => {
    for (const { text, isQuoted, at, end } of values)
      if (!isQuoted && text.includes('*')) throw lexer.refusal(`${key} takes whole ids, without *`, at, { to: end })
    return { kind: 'user', values: textsOf(values) }
  },
  first_release: (_lexer, _key, values) => ({
    kind: 'release',
    field: 'first_release',
    values: patternsOf(values),
  }),
  last_release: (_lexer, _key, values) => ({
    kind: 'release',
    field: 'last_release',
    values: patternsOf(values),
  }),
  has: (lexer, _key, values, at) => {
    const [value] = values
    if (value === undefined || values.length > 1) throw lexer.refusal('has takes one key', at.start, { to: at.end })
    const key = value.text.toLowerCase()
    return { kind: 'has', key: key === 'user' ? 'user.id' : resolveKeyAlias(key) }
  },
}

/** Keys above that an issue may lack: with `*` they match any value. */
const MAY_LACK: ReadonlySet<string> = new Set(['assigned', 'user', 'user.id', 'first_release', 'last_release'])

/** Keys whose values may start with a comparison operator. */
const COMPARING: Readonly<Record<string, (lexer: QueryLexer, op: string, text: string, at: number) => Term>> = {
  first_seen: (lexer, op, text, at) => readTime(lexer, 'first_seen', op, text, at),
  last_seen: (lexer, op, text, at) => readTime(lexer, 'last_seen', op, text, at),
  age: readAge,
  events: (lexer, op, text, at) => readCount(lexer, 'events', op, text, at),
  users: (lexer, op, text, at) => readCount(lexer, 'users', op, text, at),
}

/** Whether the key is built-in; any other is a tag. */
export const knowsKey = (key: string): boolean => {
  const name = resolveKeyAlias(key)
  return Object.hasOwn(READERS, name) || Object.hasOwn(COMPARING, name) || isTextField(name) || isOwnKey(name)
}

const isTextField = (key: string): key is TextField => key === 'title' || key === 'message' || key === 'culprit'

/**
 * Reads the term after its key.
 * @param bounds receives the number of values and of their further words beyond the first, and of values that scan issues
 * @throws AppError invalid, with the position
 */
export function readKeyTerm(lexer: QueryLexer, written: string, start: number, bounds: Bounds): Query {
  const key = resolveKeyAlias(written)
  const comparing = Object.hasOwn(COMPARING, key) ? COMPARING[key] : undefined
  if (comparing !== undefined) {
    const op = COUNT_OPS.find((one) => lexer.text.startsWith(one, lexer.at)) ?? ''
    lexer.at += op.length
    const valueAt = lexer.at
    const text = lexer.peek() === '"' ? lexer.takeQuoted() : lexer.takeBare()
    return comparing(lexer, op, text, valueAt)
  }
  const values = readValues(lexer, written, start)
  const at = { start, end: lexer.at }
  bounds.values(values.length - 1)
  const [only] = values
  const isAny = values.length === 1 && only !== undefined && /^\*+$/.test(only.text) && !only.isQuoted
  if (isAny && (MAY_LACK.has(key) || !Object.hasOwn(READERS, key)))
    return { kind: 'has', key: key === 'user' ? 'user.id' : key }
  const word = key === 'is' && values.length === 1 ? (only?.text.toLowerCase() ?? '') : ''
  if (Object.hasOwn(IS_WORDS, word)) return (IS_WORDS[word] as (at: Span) => Term)(at)
  if (Object.hasOwn(READERS, key)) return (READERS[key] as Reader)(lexer, key, values, at)
  const patterns = patternsOf(values)
  if (isTextField(key)) {
    const field: Field = { kind: 'field', field: key, values: patterns, at }
    for (const { text } of patterns) bounds.values(Math.max(0, splitSearchTerms(text, false, MAX_TERMS).length - 1))
    if (needsScan(field)) bounds.scanned(patterns.length)
    return field
  }
  if (isUserKey(key)) return { kind: 'identity', key, values: patterns, at }
  if (!patterns.some(isInfixPattern)) return { kind: 'facet', key, values: patterns }
  bounds.scanned(patterns.length)
  return { kind: 'facet', key, values: patterns, at }
}

/** The text before the first `*`, or all. */
export const patternBeginning = ({ text, glob }: Pattern): string => (glob ? text.slice(0, text.indexOf('*')) : text)

/**
 * The words of a field's value, before its first `*`, that the index is asked for. Of later events it lacks numbers and long
 * ids, also those that begin as a word does: these are asked for only if there is no other word.
 */
export function askedWords(value: Pattern): SearchTerm[] {
  const words = splitSearchTerms(patternBeginning(value), false)
  const lasting = words.filter(({ word }) => isRecurring(word) && !/\p{N}/u.test(word))
  return lasting.length > 0 ? lasting : words
}

/** Whether the index cannot answer a term, so that issues are scanned. */
export const needsScan = (term: Facet | Field): boolean =>
  term.values.some((value) => isInfixPattern(value) || (term.kind === 'field' && askedWords(value).length === 0))

/** `user:kim@example.com`, `user:7`, and as another tracker writes them `user:email:…`, `user:id:7`. */
function readUser(lexer: QueryLexer, values: readonly Value[], at: Span): Term {
  const [only] = values
  const named = /^(id|email|username|ip):(.+)$/is.exec(only?.text ?? '')
  const [, kind = '', text = ''] = named ?? []
  if (textsOf(values).length !== 1 || only === undefined || named === null)
    return { kind: 'identity', key: 'user', values: patternsOf(values), at }
  const value = { ...only, text }
  const key = `user.${kind.toLowerCase()}`
  return isUserKey(key)
    ? { kind: 'identity', key, values: patternsOf([value]), at }
    : (READERS['user.id'] as Reader)(lexer, 'user.id', [value], at)
}

function readValues(lexer: QueryLexer, key: string, start: number): Value[] {
  const at = lexer.at
  if (lexer.peek() === '"') {
    const text = notEmpty(lexer, key, lexer.takeQuoted(), at)
    return [{ text, isQuoted: true, at, end: lexer.at }]
  }
  if (lexer.peek() === '[') return readList(lexer, key)
  if (endsTerm(lexer.peek())) throw lexer.refusal(`${key} needs a value`, at, { from: start, to: at })
  const text = lexer.takeBare()
  return [{ text, isQuoted: false, at, end: lexer.at }]
}

/** `[a, "b c", d*]` */
function readList(lexer: QueryLexer, key: string): Value[] {
  const start = lexer.at
  const values: Value[] = []
  do {
    lexer.at++
    lexer.skipSpace()
    const at = lexer.at
    const isQuoted = lexer.peek() === '"'
    const text = isQuoted ? lexer.takeQuoted() : lexer.takeBare(true)
    values.push({ text: notEmpty(lexer, key, text, at), isQuoted, at, end: lexer.at })
    lexer.skipSpace()
  } while (lexer.peek() === ',')
  if (lexer.peek() !== ']') throw lexer.refusal('the list is not closed', start, { to: lexer.at })
  lexer.at++
  return values
}

function notEmpty(lexer: QueryLexer, key: string, text: string, at: number): string {
  if (text === '') throw lexer.refusal(`${key} has an empty value`, at)
  return text
}

/** `age:<24h`: first seen less than 24 hours ago. */
function readAge(lexer: QueryLexer, op: string, text: string, at: number): Term {
  const match = /^([+-]?)(\d{1,5}[mhdw])$/.exec(text)
  const isYounger = op.startsWith('<')
    ? true
    : op.startsWith('>')
      ? false
      : match?.[1] === '-'
        ? true
        : match?.[1] === '+'
          ? false
          : null
  if (match === null || isYounger === null || (op !== '' && match[1] !== ''))
    throw lexer.refusal('age takes <24h (younger) or >7d (older), with m, h, d or w', at)
  return readTime(lexer, 'first_seen', '', `${isYounger ? '-' : '+'}${match[2] ?? ''}`, at)
}

function readCount(lexer: QueryLexer, field: 'events' | 'users', op: string, text: string, at: number): Term {
  if (!/^\d{1,15}$/.test(text)) throw lexer.refusal(`${field} takes a number, as in ${field}:>100`, at)
  return { kind: 'count', field, op: COUNT_OPS.find((one) => one === op) ?? '=', value: Number(text) }
}
