import { compileGlob } from '../../platform/kernel/glob.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { askedKey, listEventFacts, USER_KEYS, type Fact, type UserKey } from '../search/facts.ts'
import { valuePart } from '../search/index-terms.ts'
import { readQuery } from '../search/parse-query.ts'
import { eventBrowser, eventDevice, eventOs } from './dimensions.ts'
import { queryError } from '../search/query-error.ts'
import type { Pattern, Query, Term, TextField } from '../search/query.ts'

/** The query language of issue lists (docs/search.md), asked of one event. Pure. */

/**
 * Returns whether events match a query; null for a query that every event matches. Words and texts may be anywhere in
 * title, culprit, message and value of the error.
 * @throws AppError invalid, with the position, also for terms that only issues have
 */
export function eventMatcher(text: string): ((event: Event) => boolean) | null {
  const { query, keys } = readQuery(text)
  for (const { key, term, start, end } of keys)
    if (!isOfEvents(term)) throw queryError('q', `${key}: finds issues; events have no such value`, { start, end })
  return query === null ? null : (event) => holds(query, event)
}

/** Keys of `has:` that only issues have. */
const OF_ISSUES: ReadonlySet<string> = new Set([
  'assigned',
  'first_release',
  'last_release',
  'first_seen',
  'last_seen',
  'age',
  'events',
  'users',
  'issue',
  'is',
  'severity',
  'project',
])

function isOfEvents(term: Query): boolean {
  switch (term.kind) {
    case 'status':
    case 'severity':
    case 'assigned':
    case 'project':
    case 'time':
    case 'count':
    case 'release':
    case 'issue':
      return false
    case 'has':
      return !OF_ISSUES.has(term.key)
    default:
      return true
  }
}

function holds(query: Query, event: Event): boolean {
  switch (query.kind) {
    case 'and':
      return query.parts.every((part) => holds(part, event))
    case 'or':
      return query.parts.some((part) => holds(part, event))
    case 'not':
      return !holds(query.part, event)
    default:
      return termHolds(query, event)
  }
}

function termHolds(term: Term, event: Event): boolean {
  switch (term.kind) {
    case 'text':
      return contains(term.text)([event.title, event.culprit, event.message, event.error_value].join(' '))
    case 'level':
      return term.values.includes(event.level)
    case 'platform':
      return isLikeOne(event.platform, term.values)
    case 'unhandled':
      return event.is_unhandled === term.value
    case 'user':
      return term.values.includes(userKeyOf(event) ?? '')
    case 'identity': {
      const keys: readonly UserKey[] = term.key === 'user' ? USER_KEYS : [term.key]
      const isId = term.key === 'user' && term.values.some(({ text, glob }) => !glob && text === userKeyOf(event))
      return (
        isId ||
        listEventFacts(event).some(([key, value]) => keys.some((one) => one === key) && isLikeOne(value, term.values))
      )
    }
    case 'facet': {
      const asked = askedKey(term.key)
      return [...listEventFacts(event), ...shownFacts(event)].some(
        ([key, value]) => key === asked && isLikeOne(value, term.values),
      )
    }
    case 'field':
      return FIELDS[term.field](event).some((text) =>
        // Not bounded as values of facts are: a message may be long.
        term.values.some((value) => (value.glob ? compileGlob(value.text) : contains(value.text))(text ?? '')),
      )
    case 'has':
      return has(event, askedKey(term.key))
    default:
      return false
  }
}

/** Values that the page of an issue shows as shared by events: a query can ask for every value shown there. */
const shownFacts = (event: Event): Fact[] => [
  ...event.tags.map(({ key, value }): Fact => [key.toLowerCase(), value]),
  ...shown('os.name', eventOs(event)),
  ...shown('browser.name', eventBrowser(event)),
  ...shown('device.model', eventDevice(event)),
]
const shown = (key: string, value: string | null): Fact[] => (value === null ? [] : [[key, value]])

const FIELDS: Readonly<Record<TextField, (event: Event) => readonly (string | null)[]>> = {
  title: ({ title }) => [title],
  message: ({ title, message, error_value }) => [title, message, error_value],
  culprit: ({ culprit }) => [culprit],
}

function has(event: Event, key: string): boolean {
  if (key === 'level' || key === 'platform' || key === 'unhandled' || key === 'handled') return true
  if (key === 'user.id') return userKeyOf(event) !== null
  if (key === 'title' || key === 'message' || key === 'culprit')
    return FIELDS[key](event).some((text) => text !== null && text !== '')
  return listEventFacts(event).some(([name]) => name === key)
}

/** The key by which affected users are counted. */
const userKeyOf = ({ user }: Event): string | null =>
  user === null ? null : (user.id ?? user.username ?? user.email ?? user.ip_address)

const contains =
  (part: string) =>
  (text: string): boolean =>
    text.toLowerCase().includes(part.toLowerCase())
const isLikeOne = (value: string, patterns: readonly Pattern[]): boolean =>
  patterns.some((pattern) => isLike(value, pattern))
/** As searches compare values: bounded, in lower case, with one spelling for equal characters. */
const isLike = (value: string, { text, glob }: Pattern): boolean =>
  glob ? compileGlob(valuePart(text))(valuePart(value)) : valuePart(text) === valuePart(value)
