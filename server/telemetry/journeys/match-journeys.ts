import { compileGlob } from '../../platform/kernel/glob.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { isRecord, unwrapList } from '../../events/protocol/json.ts'
import { Notes } from '../../events/protocol/strings.ts'

/** Which journeys of a project an error event names. Pure. */

/** The patterns of `critical_paths` that match an event. */
export type JourneyMatcher = (event: NamingEvent, raw: Record<string, unknown>) => readonly string[]
type NamingEvent = Pick<Event, 'transaction' | 'contexts' | 'tags'>

/** Compiles the patterns of a project; null without any, which costs an event nothing. */
export function compileJourneys(patterns: readonly string[]): JourneyMatcher | null {
  if (patterns.length === 0) return null
  const globs = patterns.map((pattern) => ({ pattern, matches: compileGlob(pattern) }))
  return (event, raw) => {
    const texts = textsOf(event, raw)
    return globs.flatMap(({ pattern, matches }) => (texts.some(matches) ? [pattern] : []))
  }
}

/** Transaction, open screens, the last navigation, and tags as `value` and `key:value`. */
function textsOf({ transaction, contexts, tags }: NamingEvent, raw: Record<string, unknown>): string[] {
  const texts = new Set<string>()
  const add = (text: unknown): void => {
    if (typeof text === 'string' && text !== '') texts.add(text)
  }
  add(transaction)
  const views: unknown = contexts['app']?.['view_names']
  if (Array.isArray(views)) for (const view of views.slice(-MAX_VIEWS)) add(view)
  add(lastScreen(raw['breadcrumbs']))
  for (const { key, value } of tags) {
    add(value)
    add(`${key}:${value}`)
  }
  return [...texts]
}

const MAX_VIEWS = 20
const MAX_CRUMBS = 100

/** Where the newest breadcrumb of a navigation leads to. */
function lastScreen(raw: unknown): unknown {
  const crumbs = unwrapList(raw, new Notes(), 'breadcrumbs').slice(-MAX_CRUMBS)
  for (const crumb of crumbs.toReversed()) {
    if (!isRecord(crumb) || !isRecord(crumb['data'])) continue
    if (crumb['type'] === 'navigation' || crumb['category'] === 'navigation') return crumb['data']['to']
    if (crumb['category'] === 'ui.lifecycle' && crumb['data']['screen'] !== undefined) return crumb['data']['screen']
  }
  return null
}
