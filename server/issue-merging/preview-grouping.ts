import { setImmediate } from 'node:timers/promises'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { readEvents, type EventPlace } from '../events/store.queries.ts'
import { compileGrouping, type GroupingSettings } from '../grouping/grouping.ts'
import { newerVersions } from '../grouping/registry.ts'
import { invalid, notFound, rateLimited } from '../kernel/errors.ts'
import type { Event } from '../protocol/event.api.ts'
import { readStoredEvent } from '../protocol/read-stored.ts'
import type { GroupingRules } from '../grouping/grouping-rules.api.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { readProject } from '../projects/projects.queries.ts'
import type { GroupingPreview } from './merging.api.ts'
import { newestEventsOfProject } from '../issue-events/newest-events.ts'
import { Regrouping } from './regrouping.ts'
import { selectNames } from './merging.queries.ts'

const MAX_EVENTS = 10_000
const WEEK_MS = 7 * 86_400_000
/** Events read by one statement: at most 25 MiB. */
const CHUNK = 25
/** Real time, not the App's clock: it limits what one member costs the others. */
const TIME_LIMIT_MS = 8_000
/** The event loop is blocked for at most this time. */
const TURN_MS = 5
/** A preview keeps a core busy for seconds. */
const MAX_CONCURRENT = 2

let running = 0

export type Proposed = { readonly grouping_rules?: GroupingRules | undefined; readonly version?: number | undefined }
export type PreviewLimits = { readonly maxEvents?: number; readonly timeLimitMs?: number }

/**
 * Groups the newest stored events of a project by the saved and by the proposed settings, without changing anything.
 * @throws AppError not_found, invalid (a version that is not newer), rate_limited (too many concurrent previews)
 */
export async function previewGrouping(
  app: App,
  actor: OrgActor,
  projectId: string,
  proposed: Proposed,
  { maxEvents = MAX_EVENTS, timeLimitMs = TIME_LIMIT_MS }: PreviewLimits = {},
): Promise<GroupingPreview> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const saved = groupingSettings(project.settings)
  const { version = saved.grouping_version, grouping_rules: rules = saved.grouping_rules } = proposed
  if (version !== saved.grouping_version) requireNewer(saved.grouping_version, version)
  if (running >= MAX_CONCURRENT) throw rateLimited('Other previews are running. Try again in a few seconds.', 5)
  running++
  try {
    const deadline = performance.now() + timeLimitMs
    const after: GroupingSettings = { grouping_version: version, grouping_rules: rules, grouping_transition: null }
    const groupNow = compileGrouping({ ...saved, grouping_transition: null })
    const groupThen = compileGrouping(after)
    const since = app.clock.now().getTime() - WEEK_MS
    const places = (await newestEventsOfProject(app, projectId, maxEvents)).filter(
      (place) => place.occurredAt.getTime() >= since,
    )
    const regrouping = new Regrouping(rules)
    let lookedAt = 0
    let oldest: Date | null = null
    for (let at = 0; at < places.length && performance.now() < deadline; at += CHUNK) {
      const chunk = places.slice(at, at + CHUNK)
      for await (const { event, place } of readChunk(app, projectId, chunk)) {
        const now = app.clock.now()
        regrouping.add(place, groupNow(event, now), groupThen(event, now))
      }
      lookedAt += chunk.length
      oldest = chunk.at(-1)?.occurredAt ?? oldest
    }
    const names = await selectNames(app.db, regrouping.issueIds())
    return {
      looked_at: lookedAt,
      of: places.length,
      oldest_at: oldest?.toISOString() ?? null,
      ...regrouping.result(names),
    }
  } finally {
    running--
  }
}

/** @throws AppError invalid */
export function requireNewer(current: number, version: number): void {
  const newer = newerVersions(current)
  if (newer.includes(version)) return
  throw invalid(
    newer.length === 0
      ? `version: this project has the newest grouping version, ${current}.`
      : `version must be one of ${newer.join(', ')}: newer than ${current}.`,
  )
}

async function* readChunk(
  app: App,
  projectId: string,
  chunk: readonly EventPlace[],
): AsyncGenerator<{ event: Event; place: EventPlace }> {
  const days = chunk.map(({ receivedDay }) => receivedDay).sort()
  const byId = new Map(chunk.map((place) => [place.eventId, place]))
  const stored = await readEvents(app.db, projectId, [...byId.keys()], {
    first: days[0] ?? '',
    last: days.at(-1) ?? '',
  })
  let turnedAtMs = performance.now()
  for (const one of stored) {
    if (performance.now() - turnedAtMs > TURN_MS) {
      await setImmediate()
      turnedAtMs = performance.now()
    }
    const place = byId.get(one.eventId)
    if (place === undefined) continue
    try {
      yield { event: readStoredEvent(one), place }
    } catch (error) {
      app.log.warn({ project_id: one.projectId, event_id: one.eventId, err: error }, 'a stored event cannot be read')
    }
  }
}
