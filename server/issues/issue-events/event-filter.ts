import type { EventFacts } from '../../events/store/event-places.queries.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import type { Event, Tag } from '../../events/protocol/event.api.ts'
import { tidy } from '../../events/protocol/strings.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { releaseFacts } from '../search/facts.ts'
import { eventDimensions } from './dimensions.ts'
import { eventMatcher } from './match-event.ts'

/** Filters over the events of an issue. Pure. */

/** Query fields of the event list. */
export type EventQuery = {
  readonly release?: readonly string[] | undefined
  readonly environment?: readonly string[] | undefined
  readonly level?: readonly string[] | undefined
  readonly user?: string | undefined
  readonly tag?: readonly string[] | undefined
  readonly q?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export type EventFilter = {
  readonly since: Date | undefined
  readonly until: Date | undefined
  /** The part that needs only the row; null passes every event. */
  readonly byFacts: ((facts: EventFacts) => boolean) | null
  /** The part that needs the body; null passes every event. */
  readonly byBody: ((event: Event) => boolean) | null
}

/** Events keep this number of characters of a user's id. */
const MAX_USER_CHARACTERS = 256

/** @throws AppError invalid (a tag without colon, from after to, a query that cannot be read) */
export function eventFilter(projectId: string, query: EventQuery): EventFilter {
  const from = query.from === undefined ? undefined : new Date(query.from)
  const until = query.to === undefined ? undefined : new Date(query.to)
  if (from !== undefined && until !== undefined && from >= until) throw invalid('from must lie before to.')
  // No event is older, and the database has no year 0.
  const since = from === undefined ? undefined : new Date(Math.max(0, from.getTime()))
  const { release, environment, level } = query
  const userHash = query.user === undefined ? undefined : hashUser(projectId, tidy(query.user, MAX_USER_CHARACTERS))
  const facts: ((facts: EventFacts) => boolean)[] = []
  // An empty release selects events without one.
  if (release !== undefined)
    facts.push((event) => releaseFacts(event.release ?? '').some(([, value]) => release.includes(value)))
  if (environment !== undefined) facts.push((event) => environment.includes(event.environment))
  if (level !== undefined) facts.push((event) => level.includes(event.level))
  if (userHash !== undefined) facts.push((event) => event.userHash === userHash)
  const tags = query.tag?.map(tagOf) ?? []
  const bodies: ((event: Event) => boolean)[] = []
  if (tags.length > 0) {
    bodies.push((event) => {
      const own = eventDimensions(event)
      return tags.every(({ key, value }) => own.some((tag) => tag.key === key && tag.value === value))
    })
  }
  const matches = eventMatcher(query.q ?? '')
  if (matches !== null) bodies.push(matches)
  return {
    since,
    until,
    byFacts: facts.length === 0 ? null : (event) => facts.every((holds) => holds(event)),
    byBody: bodies.length === 0 ? null : (event) => bodies.every((holds) => holds(event)),
  }
}

/** `os.name:Android`: the key ends at the first colon. */
function tagOf(text: string): Tag {
  const at = text.indexOf(':')
  if (at < 1) throw invalid('tag must be written as key:value.')
  return { key: text.slice(0, at), value: text.slice(at + 1) }
}

export const isUnfiltered = (filter: EventFilter): boolean =>
  filter.byFacts === null && filter.byBody === null && filter.since === undefined && filter.until === undefined
