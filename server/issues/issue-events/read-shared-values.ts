import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { eventDimensions } from './dimensions.ts'
import { eventFilter } from './event-filter.ts'
import { eventSources } from './event-sources.ts'
import { findEvents } from './find-events.ts'
import type { Tag } from '../../events/protocol/event.api.ts'
import { newestEventsOfProject } from './newest-events.ts'
import { openEvents } from './open-event.ts'

/** The shared values are of this number of newest events. */
const MAX_EVENTS = 100

/**
 * The values that the newest events of an issue share, compared with the project's other events.
 * @throws AppError not_found
 */
export async function readSharedValues(
  app: App,
  actor: OrgActor,
  issueId: string,
): Promise<{ events: number; baseline_events: number; items: Share[] }> {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  const sources = await eventSources(app, issue)
  const [found, baseline] = await Promise.all([
    findEvents(app, {
      projectId: issue.project_id,
      sources,
      filter: eventFilter(issue.project_id, {}),
      direction: 'older',
      from: null,
      limit: MAX_EVENTS,
    }),
    readBaseline(app, issue.project_id),
  ])
  const own = found.events.flatMap(({ event }) => (event === null ? [] : [eventDimensions(event)]))
  const others = baseline.filter((event) => !sources.issueIds.includes(event.issueId)).map(({ tags }) => tags)
  return { events: own.length, baseline_events: others.length, items: sharedValues(own, others) }
}

/** A sample of the events of a project, of all its issues. It is cached for a few minutes. */

/** The sample is taken evenly from this number of newest events. */
const MAX_NEWEST = 1_500
const SAMPLE_SIZE = 300
const CACHE_MS = 5 * 60_000
const MAX_PROJECTS = 50
/** Events opened by one statement. */
const CHUNK = 25

type Baseline = readonly { readonly issueId: string; readonly tags: readonly Tag[] }[]

type Cached = { readonly at: number; readonly sample: Promise<Baseline> }
/** Per app, because a process may hold several. */
const caches = new WeakMap<App, Map<string, Cached>>()

/** The sample of a project, at most five minutes old. Concurrent calls read it once. */
function readBaseline(app: App, projectId: string): Promise<Baseline> {
  const projects = caches.get(app) ?? new Map<string, Cached>()
  caches.set(app, projects)
  const now = app.clock.now().getTime()
  const known = projects.get(projectId)
  if (known !== undefined && now - known.at < CACHE_MS) return known.sample
  const sample = readSample(app, projectId)
  projects.delete(projectId)
  projects.set(projectId, { at: now, sample })
  for (const oldest of projects.keys()) {
    if (projects.size <= MAX_PROJECTS) break
    projects.delete(oldest)
  }
  // A failure is not cached.
  sample.catch(() => projects.get(projectId)?.sample === sample && projects.delete(projectId))
  return sample
}

async function readSample(app: App, projectId: string): Promise<Baseline> {
  const places = await newestEventsOfProject(app, projectId, MAX_NEWEST)
  // Taken evenly: the newest events may be one burst of a single issue.
  const step = Math.max(1, places.length / SAMPLE_SIZE)
  const chosen = Array.from(
    { length: Math.min(SAMPLE_SIZE, places.length) },
    (_, index) => places[Math.floor(index * step)],
  )
  const sample: { issueId: string; tags: Tag[] }[] = []
  for (let at = 0; at < chosen.length; at += CHUNK) {
    const chunk = chosen.slice(at, at + CHUNK).filter((place) => place !== undefined)
    const events = await openEvents(app, projectId, chunk)
    for (const place of chunk) {
      const event = events.get(place.eventId)
      if (event !== undefined) sample.push({ issueId: place.issueId, tags: eventDimensions(event) })
    }
  }
  return sample
}

/** Values that events have in common and other events do not have. Pure. */

type Share = {
  readonly key: string
  readonly value: string
  readonly count: number
  readonly share: number
  readonly baseline_count: number
  readonly baseline_share: number | null
  readonly lift: number | null
}

const MAX_VALUES_PER_KEY = 10
const MAX_SHARES = 60
/** A value of a single event is not shared, unless there is only one event. */
const MIN_COUNT = 2

/**
 * Values of these events compared with other events, by lift, then by frequency. Both sides are smoothed (one event with
 * the value and one without are added), because small samples say little: 3 against 0 of 5 is no difference.
 */
export function sharedValues(own: readonly (readonly Tag[])[], others: readonly (readonly Tag[])[]): Share[] {
  const counts = countValues(own)
  const baseline = countValues(others)
  const shares: Share[] = []
  for (const [key, values] of counts) {
    const listed = [...values]
      .filter(([, count]) => own.length < MIN_COUNT || count >= MIN_COUNT)
      .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      .slice(0, MAX_VALUES_PER_KEY)
    for (const [value, count] of listed) {
      const there = baseline.get(key)?.get(value) ?? 0
      const lift = others.length === 0 ? null : (count + 1) / (own.length + 2) / ((there + 1) / (others.length + 2))
      shares.push({
        key,
        value,
        count,
        share: count / own.length,
        baseline_count: there,
        baseline_share: others.length === 0 ? null : there / others.length,
        lift: lift === null ? null : Math.round(lift * 100) / 100,
      })
    }
  }
  return shares
    .toSorted(
      (a, b) =>
        (b.lift ?? 0) - (a.lift ?? 0) ||
        b.count - a.count ||
        (a.key < b.key ? -1 : a.key > b.key ? 1 : a.value < b.value ? -1 : 1),
    )
    .slice(0, MAX_SHARES)
}

function countValues(events: readonly (readonly Tag[])[]): Map<string, Map<string, number>> {
  const keys = new Map<string, Map<string, number>>()
  for (const tags of events) {
    const seen = new Set<string>()
    for (const { key, value } of tags) {
      // An event that repeats a tag counts once.
      const name = JSON.stringify([key, value])
      if (seen.has(name)) continue
      seen.add(name)
      const values = keys.get(key) ?? new Map<string, number>()
      values.set(value, (values.get(value) ?? 0) + 1)
      keys.set(key, values)
    }
  }
  return keys
}
