import { randomBytes } from 'node:crypto'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { eventForThread, type StoredEvent } from '../../events/store/event.ts'
import { readEvents } from '../../events/store/store.queries.ts'
import { newestEventsOfProject } from '../../issues/issue-events/newest-events.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import { checkExpressions, expressionsToCheck, inScrubThread } from './check-scrub-rules.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { scrubSettings, type ScrubSettings, buildScrubbing } from './scrub-settings.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import type { ScrubbingPreview } from './scrubbing.api.ts'

type Proposed = {
  readonly [K in keyof ScrubSettings]?: ScrubSettings[K] | undefined
} & { readonly event_id?: string | undefined }

const NOTHING: ScrubbingPreview = { event_id: null, issue_id: null, title: null, changes: [], total_changes: 0 }

/**
 * Applies proposed scrubbing settings to a copy of a stored event and returns what would change.
 * @throws AppError not_found (project or event), invalid (an expression, or the time limit), rate_limited
 */
export async function previewScrubbing(
  app: App,
  actor: OrgActor,
  projectId: string,
  { event_id: eventId, ...proposed }: Proposed,
): Promise<ScrubbingPreview> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const saved = scrubSettings(project.settings)
  const expressions = expressionsToCheck(proposed.scrub_rules, saved.scrub_rules)
  const stored = await findEvent(app, project, eventId)
  if (stored === null && eventId !== undefined) throw notFound('Event')
  if (stored === null && expressions.length === 0) return NOTHING
  const named = Object.fromEntries(Object.entries(proposed).filter(([, value]) => value !== undefined))
  const scrubbing = await buildScrubbing(app, project, { ...saved, ...named })
  // There is no key before the first hashing rule is saved. The preview then uses a random one.
  const hashKey = new Uint8Array(scrubbing.hashKey ?? randomBytes(32))
  return inScrubThread(actor.orgId, async (ask) => {
    await checkExpressions(ask, expressions)
    if (stored === null) return NOTHING
    const { title, list, total } = await ask({ stored: eventForThread(stored), scrubbing: { ...scrubbing, hashKey } })
    return { event_id: stored.eventId, issue_id: stored.issueId, title, changes: [...list], total_changes: total }
  })
}

async function findEvent(
  app: App,
  { id: projectId, settings }: { readonly id: string; readonly settings: unknown },
  eventId: string | undefined,
): Promise<StoredEvent | null> {
  if (eventId !== undefined) {
    const stored = await readEvents(app.db, projectId, [unhyphenate(eventId.toLowerCase())], null)
    const oldest = oldestDay(settings, app.clock.now())
    return stored.find(({ receivedAt }) => utcDay(receivedAt) >= oldest) ?? null
  }
  const [newest] = await newestEventsOfProject(app, projectId, 1)
  if (newest === undefined) return null
  const days = { first: newest.receivedDay, last: newest.receivedDay }
  return (await readEvents(app.db, projectId, [newest.eventId], days))[0] ?? null
}
