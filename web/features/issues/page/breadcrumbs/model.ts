import type { Breadcrumb, Event } from '../../../../../server/events/protocol/event.api.ts'
import { own } from '../../../../ui/own.ts'
import { formatDuration } from '../../../../ui/format.ts'
import type { IconName } from '../../../../ui/icon.tsx'

/** Breadcrumbs as rows, by type. Pure. */

export const CRUMB_KINDS = ['screen', 'touch', 'http', 'state', 'device', 'log', 'query', 'error', 'note'] as const
export type CrumbKind = (typeof CRUMB_KINDS)[number]

export const CRUMB_ICONS: Readonly<Record<CrumbKind, IconName>> = {
  screen: 'nav',
  touch: 'tap',
  http: 'network',
  state: 'state',
  device: 'cpu',
  log: 'code',
  query: 'project',
  error: 'warn',
  note: 'info',
}

const BY_TYPE: Readonly<Record<string, CrumbKind>> = {
  navigation: 'screen',
  http: 'http',
  user: 'touch',
  ui: 'touch',
  system: 'device',
  session: 'state',
  query: 'query',
  error: 'error',
}

const BY_CATEGORY: readonly (readonly [RegExp, CrumbKind])[] = [
  [/^(?:navigation|ui\.lifecycle|route|screen)/u, 'screen'],
  [/^(?:ui\.|touch|gesture|click|input)/u, 'touch'],
  [/^(?:fetch|xhr|https?|okhttp|network\.request|request|requests|urllib|aiohttp|httplib)\b/u, 'http'],
  [/^(?:app\.|lifecycle|session|redux|state|store|activity|fragment)/u, 'state'],
  [/^(?:device|network|battery|memory|system|connectivity)/u, 'device'],
  [/^(?:query|sql|db|database|sqlite|redis|prisma)/u, 'query'],
  [/^(?:console|log|logger|logging|debug)/u, 'log'],
  [/^(?:exception|error|crash)/u, 'error'],
]

export function crumbKind(crumb: Breadcrumb): CrumbKind {
  const category = crumb.category?.toLowerCase() ?? ''
  const byCategory = BY_CATEGORY.find(([pattern]) => pattern.test(category))?.[1]
  // The category is more exact: many SDKs leave the type at "default".
  return own(BY_TYPE, crumb.type) ?? byCategory ?? (crumb.type === 'debug' || crumb.type === 'info' ? 'log' : 'note')
}

const MINUS = '\u2212'
const THIN = '\u202f'
const SECOND = 1000
const MINUTE = 60 * SECOND

/** Time before the crash: `−31.4 s`, `−3 min 12 s`; with `+` if it is later (a wrong clock), empty if unknown. */
export function crumbTime(timestamp: string | null, crashAt: string): string {
  if (timestamp === null) return ''
  const distance = Date.parse(timestamp) - Date.parse(crashAt)
  if (Number.isNaN(distance)) return ''
  const size = Math.abs(distance)
  if (size < 50) return '0'
  const sign = distance < 0 ? MINUS : '+'
  if (size < MINUTE) return `${sign}${(size / SECOND).toFixed(1)}${THIN}s`
  return `${sign}${formatDuration(size)}`
}

export type CrumbTone = 'plain' | 'warn' | 'err'

/** A breadcrumb as a row: a sentence on the left, details on the right. */
export type CrumbRow = {
  key: number
  crumb: Breadcrumb
  kind: CrumbKind
  tone: CrumbTone
  /** `from → to` for navigation, else a sentence. */
  text: { move: readonly [from: string, to: string] } | { sentence: string }
  /** The status of a request, separate because it has a colour. */
  status: { code: string; good: boolean } | null
  detail: string
}

const isPrimitive = (value: unknown): value is string | number | boolean =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean'

const wordOf = (data: Breadcrumb['data'], ...names: string[]): string | null => {
  for (const name of names) {
    const value = data?.[name]
    if (isPrimitive(value)) return String(value)
  }
  return null
}

/** Data that is already part of the sentence or the status; it is not repeated on the right. */
const SAID: Readonly<Record<'screen' | 'http', readonly string[]>> = {
  screen: ['from', 'to'],
  http: [
    'method',
    'http.method',
    'http.request.method',
    'url',
    'http.url',
    'status_code',
    'http.response.status_code',
    'status',
    'duration',
    'reason',
  ],
}

export function toCrumbRow(crumb: Breadcrumb, key: number): CrumbRow {
  const kind = crumbKind(crumb)
  const { data } = crumb
  const code = kind === 'http' ? wordOf(data, 'status_code', 'http.response.status_code', 'status') : null
  const failed = code !== null && Number(code) >= 400
  const tone: CrumbTone =
    crumb.level === 'fatal' || crumb.level === 'error' ? 'err' : crumb.level === 'warning' || failed ? 'warn' : 'plain'
  return {
    key,
    crumb,
    kind,
    tone,
    text: textOf(crumb, kind),
    status: code === null ? null : { code, good: !failed },
    detail: detailOf(crumb, kind),
  }
}

function textOf(crumb: Breadcrumb, kind: CrumbKind): CrumbRow['text'] {
  const { data, message } = crumb
  if (kind === 'screen') {
    const to = wordOf(data, 'to', 'screen', 'route')
    const from = wordOf(data, 'from')
    if (from !== null && to !== null) return { move: [from, to] }
    if (to !== null && message === null) return { sentence: to }
  }
  if (kind === 'http') {
    const url = wordOf(data, 'url', 'http.url')
    const method = wordOf(data, 'method', 'http.method', 'http.request.method')
    if (url !== null) return { sentence: [method ?? 'GET', url].join(' ') }
  }
  return { sentence: message ?? crumb.category ?? crumb.type }
}

function detailOf({ data, category, message }: Breadcrumb, kind: CrumbKind): string {
  const said: readonly string[] = kind === 'screen' || kind === 'http' ? SAID[kind] : []
  const parts = kind === 'http' ? [wordOf(data, 'duration', 'reason')] : []
  for (const [name, value] of Object.entries(data ?? {})) {
    if (said.includes(name) || name.startsWith('__') || value === null || value === '' || value === message) continue
    parts.push(`${name} ${isPrimitive(value) ? String(value) : JSON.stringify(value)}`)
  }
  if (parts.length === 0 && kind === 'note' && message !== null) parts.push(category)
  return parts.filter((part) => part !== null).join(', ')
}

/** The rows of an event in order, filtered by `kinds` unless it is empty. */
export function crumbRows(event: Pick<Event, 'breadcrumbs'>, kind: CrumbKind | 'all'): readonly CrumbRow[] {
  const rows = event.breadcrumbs.map(toCrumbRow)
  return kind === 'all' ? rows : rows.filter((row) => row.kind === kind)
}

/** The most frequent types, for the filter, in a fixed order; none if there is only one type. */
export function kindsIn(event: Pick<Event, 'breadcrumbs'>, max = 4): readonly CrumbKind[] {
  const counts = new Map<CrumbKind, number>()
  for (const crumb of event.breadcrumbs) counts.set(crumbKind(crumb), (counts.get(crumbKind(crumb)) ?? 0) + 1)
  if (counts.size < 2) return []
  const frequent = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, max)
  return CRUMB_KINDS.filter((kind) => frequent.some(([name]) => name === kind))
}
