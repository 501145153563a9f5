import type { App } from '../../platform/context/app.ts'
import type { Tag } from '../../events/protocol/event.api.ts'
import { newestEventsOfProject } from './newest-events.ts'
import { eventDimensions } from './dimensions.ts'
import { openEvents } from './open-event.ts'

/** A sample of the events of a project, of all its issues. It is cached for a few minutes. */

/** The sample is taken evenly from this number of newest events. */
const MAX_NEWEST = 1_500
const SAMPLE_SIZE = 300
const CACHE_MS = 5 * 60_000
const MAX_PROJECTS = 50
/** Events opened by one statement. */
const CHUNK = 25

export type Baseline = readonly { readonly issueId: string; readonly tags: readonly Tag[] }[]

type Cached = { readonly at: number; readonly sample: Promise<Baseline> }
/** Per app, because a process may hold several. */
const caches = new WeakMap<App, Map<string, Cached>>()

/** The sample of a project, at most five minutes old. Concurrent calls read it once. */
export function readBaseline(app: App, projectId: string): Promise<Baseline> {
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
