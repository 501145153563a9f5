import type { Crumb, FactEvent } from './facts.ts'
import { cutLine } from './plain.ts'

/** Breadcrumbs that most events have shortly before they fail. Pure. */

export type CommonCrumb = {
  readonly text: string
  /** Events that have it among their last breadcrumbs. */
  readonly events: number
  readonly of: number
  readonly isFailure: boolean
}

/** The last breadcrumbs of an event that are compared. */
const LAST = 6
const MIN_SHARE = 0.6
const MAX_CRUMBS = 2

/** The breadcrumbs that at least 60 % of the events have among their last six: failures first, then the latest. */
export function commonCrumbs(events: readonly FactEvent[]): CommonCrumb[] {
  const withCrumbs = events.filter(({ breadcrumbs }) => breadcrumbs.length > 0)
  const seen = new Map<string, { text: string; events: number; distance: number; isFailure: boolean }>()
  for (const { breadcrumbs } of withCrumbs) {
    const own = new Set<string>()
    for (const [distance, crumb] of breadcrumbs.slice(-LAST).toReversed().entries()) {
      const text = crumbText(crumb)
      if (text === null) continue
      const key = withoutNumbers(text)
      if (own.has(key)) continue
      own.add(key)
      const known = seen.get(key)
      if (known === undefined) seen.set(key, { text, events: 1, distance, isFailure: isFailure(crumb) })
      else {
        known.events++
        known.distance += distance
      }
    }
  }
  return [...seen.values()]
    .filter((one) => one.events / withCrumbs.length >= MIN_SHARE)
    .toSorted(
      (a, b) =>
        Number(b.isFailure) - Number(a.isFailure) ||
        b.events - a.events ||
        a.distance / a.events - b.distance / b.events,
    )
    .slice(0, MAX_CRUMBS)
    .map(({ text, events: count, isFailure: failed }) => ({
      text,
      events: count,
      of: withCrumbs.length,
      isFailure: failed,
    }))
}

const statusOf = ({ data }: Crumb): number | null => {
  const status = Number(data?.['status_code'] ?? data?.['http.response.status_code'] ?? Number.NaN)
  return Number.isInteger(status) && status >= 100 && status < 600 ? status : null
}

const isFailure = (crumb: Crumb): boolean =>
  crumb.level === 'error' || crumb.level === 'fatal' || crumb.level === 'warning' || (statusOf(crumb) ?? 0) >= 400

const textIn = (data: Crumb['data'], name: string): string | null => {
  const value = data?.[name]
  return typeof value === 'string' && value !== '' ? value : null
}

/** A breadcrumb as a short text, without values of queries; null for one that says nothing. */
export function crumbText(crumb: Crumb): string | null {
  const { data, message, category, type } = crumb
  const url = textIn(data, 'url')
  if (url !== null) {
    const path = url.split(/[?#]/, 1)[0] ?? ''
    const status = statusOf(crumb)
    return cutLine(`${textIn(data, 'method') ?? 'GET'} ${path}${status === null ? '' : ` answered ${status}`}`, 160)
  }
  const [from, to] = [textIn(data, 'from'), textIn(data, 'to')]
  if (to !== null) return cutLine(`navigation${from === null ? '' : ` from ${path(from)}`} to ${path(to)}`, 160)
  if (message !== null && message.trim() !== '')
    return cutLine(`${category === null || category === '' ? '' : `${category}: `}${message}`, 160)
  const view = textIn(data, 'view.id') ?? textIn(data, 'screen') ?? textIn(data, 'action')
  return view === null ? null : cutLine(`${category ?? type} ${view}`, 160)
}

const path = (url: string): string => url.split(/[?#]/, 1)[0] ?? ''

/** Ids and counts differ between events that are alike. */
const withoutNumbers = (text: string): string =>
  text.replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{12,}\b|(?<!answered )\b\d+\b/gi, '#')
