import type { App } from '../context/app.ts'
import type { Tag } from '../protocol/event.api.ts'
import { newestEventsOfProject } from './newest-events.ts'
import { dimensionsOf } from './dimensions.ts'
import { openEvents } from './open-event.ts'

/** What events of a project look like, whatever their issue: a sample, read again every few minutes. */

/** Newest events the sample is spread over, and how many of them are read. */
const SPREAD = 1_500
const SAMPLE = 300
const FRESH_MS = 5 * 60_000
const MAX_PROJECTS = 50

export type Baseline = readonly { readonly issueId: string; readonly tags: readonly Tag[] }[]

type Kept = { readonly at: number; readonly sample: Promise<Baseline> }
/** Per app, so that two in one process never share. */
const kept = new WeakMap<App, Map<string, Kept>>()

/** The sample of a project, at most five minutes old; read once, however many ask at the same time. */
export function baselineOf(app: App, projectId: string): Promise<Baseline> {
  const projects = kept.get(app) ?? new Map<string, Kept>()
  kept.set(app, projects)
  const now = app.clock.now().getTime()
  const known = projects.get(projectId)
  if (known !== undefined && now - known.at < FRESH_MS) return known.sample
  const sample = readSample(app, projectId)
  projects.delete(projectId)
  projects.set(projectId, { at: now, sample })
  for (const oldest of projects.keys()) {
    if (projects.size <= MAX_PROJECTS) break
    projects.delete(oldest)
  }
  // A failure is not kept.
  sample.catch(() => projects.get(projectId)?.sample === sample && projects.delete(projectId))
  return sample
}

async function readSample(app: App, projectId: string): Promise<Baseline> {
  const places = await newestEventsOfProject(app, projectId, SPREAD)
  // Evenly from all of them: the newest alone may be one burst.
  const step = Math.max(1, places.length / SAMPLE)
  const chosen = Array.from({ length: Math.min(SAMPLE, places.length) }, (_, index) => places[Math.floor(index * step)])
  const sample: { issueId: string; tags: Tag[] }[] = []
  const CHUNK = 25
  for (let at = 0; at < chosen.length; at += CHUNK) {
    const chunk = chosen.slice(at, at + CHUNK).filter((place) => place !== undefined)
    const events = await openEvents(app, projectId, chunk)
    for (const place of chunk) {
      const event = events.get(place.eventId)
      if (event !== undefined) sample.push({ issueId: place.issueId, tags: dimensionsOf(event) })
    }
  }
  return sample
}
