import type { LogAttributes, LogLevel, LogLine, LogPage, LogVolume } from '../../../api/log-queries.ts'
import { LOG_LEVELS, type LogsSearch } from '../../../address/search.ts'
import { offsetMinutes } from '../../../ui/format.ts'

/** Rules of the page of logs. Pure. */

/** A message with control characters made visible: an escape code is text, never a colour. */
export const showControls = (text: string): string =>
  text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/gu, (character) =>
    character === '\u007f' ? '\u2421' : String.fromCodePoint(0x2400 + character.charCodeAt(0)),
  )

/** Rows show so much of a message; the opened entry shows all. */
const MAX_ROW = 600

/** A message in one line. */
export const rowText = (body: string): string => {
  const cut = body.length > MAX_ROW ? `${body.slice(0, MAX_ROW)}…` : body
  return showControls(cut.replaceAll(/\r\n|\n/gu, ' ⏎ ').replaceAll('\t', ' '))
}

/** `14:03:18.204` in the chosen zone. */
export function formatLineTime(at: string): string {
  const wall = new Date(Date.parse(at) + offsetMinutes(at) * 60_000)
  return wall.toISOString().slice(11, 23)
}

type Attribute = LogLine['attributes'][string]

/** The value of an attribute as the API compares it; null for lists, which cannot be filtered by. */
export function attributeValue(attribute: Attribute): { text: string; isFilter: boolean } {
  const value =
    typeof attribute === 'object' && attribute !== null && !Array.isArray(attribute) && 'value' in attribute
      ? attribute['value']
      : attribute
  if (typeof value === 'string') return { text: value, isFilter: value.length <= 200 }
  if (typeof value === 'number' || typeof value === 'boolean') return { text: String(value), isFilter: true }
  return { text: JSON.stringify(value), isFilter: false }
}

/** Names and values of a line: those of every line first, then its own by name. */
export function listFacts(line: LogLine): { name: string; text: string; isFilter: boolean }[] {
  const own = Object.entries(line.attributes)
    .filter(([name]) => !REPEATED.includes(name))
    .map(([name, attribute]) => {
      const { text, isFilter } = attributeValue(attribute)
      return { name, text, isFilter: isFilter && !name.includes('=') }
    })
    .toSorted((a, b) => a.name.localeCompare(b.name))
  return [
    { name: 'environment', text: line.environment, isFilter: true },
    ...(line.release === null ? [] : [{ name: 'release', text: line.release, isFilter: true }]),
    ...own,
  ]
}
const REPEATED = ['sentry.environment', 'sentry.release']

type Filters = Pick<LogsSearch, 'q' | 'with' | 'without' | 'trace'>

/**
 * The filters of a typed text: a trace id, `name=value`, `-name=value`, and words. A value with spaces stands in quotes.
 */
export function parseTyped(typed: string, before: Filters): Filters {
  const words: string[] = []
  let filters: Filters = { ...before, q: undefined }
  for (const [token] of typed.matchAll(/-?[^\s="]+="[^"]*"|\S+/gu)) {
    const [, minus = '', name = '', value = ''] = /^(-?)([\w.:/@-]{1,200})=([^]{1,200})$/u.exec(token) ?? []
    if (/^[0-9a-f]{32}$/iu.test(token)) filters = { ...filters, trace: token.toLowerCase() }
    else if (name === '') words.push(token)
    else {
      const bare = /^".*"$/u.test(value) ? value.slice(1, -1) : value
      filters = { ...filters, ...addPair(filters, minus === '' ? 'with' : 'without', name, bare) }
    }
  }
  const q = words.join(' ').slice(0, 200)
  return { ...filters, q: q === '' ? undefined : q }
}

/** Adds a filter. Only one value of an attribute can be wanted; one that is unwanted is no longer wanted. */
export function addPair(
  filters: Pick<Filters, 'with' | 'without'>,
  side: 'with' | 'without',
  name: string,
  value: string,
): Pick<Filters, 'with' | 'without'> {
  const pair = `${name}=${value}`
  const others = (pairs: readonly string[] | undefined, isGone: (one: string) => boolean) =>
    (pairs ?? []).filter((one) => !isGone(one))
  const wanted = others(filters.with, (one) => (side === 'with' ? one.startsWith(`${name}=`) : one === pair))
  const unwanted = others(filters.without, (one) => one === pair)
  return {
    with: emptyToNone(side === 'with' ? [...wanted, pair] : wanted),
    without: emptyToNone(side === 'without' ? [...unwanted, pair] : unwanted),
  }
}

export const emptyToNone = <T>(list: T[]): T[] | undefined => (list.length === 0 ? undefined : list)

/** Whether anything but the time narrows the lines. */
export const isNarrowed = ({ q, level, with: wanted, without, trace }: LogsSearch): boolean =>
  [q, level, wanted, without, trace].some((one) => one !== undefined)

export const shownLevels = (level: readonly LogLevel[] | undefined): readonly LogLevel[] => level ?? LOG_LEVELS

export const sumLevels = (counts: LogVolume['totals'], levels: readonly LogLevel[]): number =>
  levels.reduce((sum, level) => sum + counts[level], 0)

/** Attributes worth offering: those that do not tell every line apart, and those of most lines, first. */
export const orderAttributes = ({ items }: LogAttributes): LogAttributes['items'] =>
  items.toSorted((a, b) => Number(isUnique(a)) - Number(isUnique(b)) || b.lines - a.lines)
const isUnique = ({ lines, values }: LogAttributes['items'][number]): boolean => lines > 5 && values > lines / 2

/** Lines that a live list keeps. */
const MAX_LIVE = 1_000

const isNewer = (a: LogLine, b: LogLine): number =>
  a.occurred_at === b.occurred_at ? (a.id < b.id ? 1 : -1) : a.occurred_at < b.occurred_at ? 1 : -1

/** Adds lines, newest first, each once; the oldest beyond a thousand go. */
export function addLines(shown: readonly LogLine[], fresh: readonly LogLine[]): LogLine[] {
  const known = new Set(shown.map(({ id }) => id))
  const added = fresh.filter(({ id }) => !known.has(id))
  if (added.length === 0) return [...shown]
  return [...added, ...shown].toSorted(isNewer).slice(0, MAX_LIVE)
}

/** Lines may arrive so much later than others of the same time. */
const LATE_MS = 5_000

/** Since when new lines are asked for. */
export const askFrom = (newest: LogLine | undefined, nowMs: number): string =>
  new Date((newest === undefined ? nowMs : Date.parse(newest.occurred_at)) - LATE_MS).toISOString()

export type Taken = {
  readonly fresh: LogLine[]
  /** New lines a second, with those that do not fit into one answer. */
  readonly perSecond: number
  /** New lines that are not among the fresh ones. */
  readonly left: number
}

/**
 * Separates new lines from those that are known, and measures their rate.
 * @param leftBefore lines since `from` that were left out of earlier answers
 */
export function takeNew(
  known: readonly LogLine[],
  page: Pick<LogPage, 'items' | 'total'>,
  from: string,
  elapsedMs: number,
  leftBefore = 0,
): Taken {
  const ids = new Set(known.map(({ id }) => id))
  const fresh = page.items.filter(({ id }) => !ids.has(id))
  const knownSince = known.filter(({ occurred_at: at }) => at >= from).length
  const left = Math.max(0, page.total - knownSince - fresh.length - leftBefore)
  return { fresh, left, perSecond: Math.round(((fresh.length + left) * 1000) / Math.max(1, elapsedMs)) }
}

/** From this rate on, lines are shown in batches. */
export const BATCH_RATE = 50
export const BATCH_MS = 250
const BATCHES = 4

/** How many waiting lines the next batch shows, oldest first: all of them at a low rate. */
export const batchSize = (waiting: number, perSecond: number): number =>
  perSecond <= BATCH_RATE ? waiting : Math.ceil(waiting / BATCHES)
