import { setImmediate } from 'node:timers/promises'
import { readEvents } from '../../events/store/store.queries.ts'
import { openEvent } from '../issue-events/open-event.ts'
import { newestEventsOfProject, newestEventsOfRelease } from '../issue-events/newest-events.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { DAY_MS, dayPlus, utcDay } from '../../platform/kernel/day.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import type { FileWatcher, MissingFile } from '../../symbols/symbolication/readable-frame.ts'
import { makeReadable } from '../../symbols/symbolication/symbolicator.ts'
import type { MissingSymbols } from './missing-symbols.api.ts'

const MAX_EVENTS = 200
const MAX_OF_RELEASE = 50
const MAX_AGE_MS = 7 * DAY_MS
const MAX_ITEMS = 50
const MAX_ISSUES = 5
/** Events per query; the largest take 25 MiB. */
const BATCH = 25

type Counted = {
  readonly file: MissingFile
  readonly release: string | null
  events: number
  readonly issueIds: Set<string>
}

/** The slug of the caller's organisation, which upload commands name. */
export type ReadOrgSlug = (app: App, actor: OrgActor) => Promise<string>

/**
 * Looks at the newest events of a project for files that would make them readable.
 * @param release only of this release: the newest event of each of its groups; null for all
 * @throws AppError not_found
 */
export async function readMissingSymbols(
  app: App,
  actor: OrgActor,
  projectId: string,
  release: string | null,
  readOrgSlug: ReadOrgSlug,
): Promise<MissingSymbols> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const org = await readOrgSlug(app, actor)
  const now = app.clock.now()
  const since = new Date(now.getTime() - MAX_AGE_MS)
  const newest =
    release === null
      ? await newestEventsOfProject(app, projectId, MAX_EVENTS)
      : await newestEventsOfRelease(app, projectId, release, { since, max: MAX_OF_RELEASE })
  const places = newest.filter(({ occurredAt }) => occurredAt >= since)
  // An event is at most a minute ahead of its receipt (docs/protocol.md §15.1).
  const days = { first: dayPlus(utcDay(since), -1), last: dayPlus(utcDay(now), 1) }
  const counted = new Map<string, Counted>()
  const uses = new Map<string, number>()
  let unreadable = 0
  for (let from = 0; from < places.length; from += BATCH) {
    const batch = places.slice(from, from + BATCH)
    const ids = batch.map(({ eventId }) => eventId)
    const stored = new Map((await readEvents(app.db, projectId, ids, days)).map((one) => [one.eventId, one]))
    for (const { eventId, issueId } of batch) {
      const body = stored.get(eventId)
      const event = body === undefined ? null : openEvent(app, body)
      if (event === null) continue
      const missing = new Map<string, MissingFile>()
      const used = new Set<string>()
      const watcher: FileWatcher = {
        onMissing: (file) => missing.set(`${file.kind}\n${file.debugId ?? file.name}`, file),
        onUsed: (fileId) => used.add(fileId),
      }
      await makeReadable(app, { orgId: actor.orgId, projectId }, event, { watcher, needsLine: () => false })
      for (const fileId of used) uses.set(fileId, (uses.get(fileId) ?? 0) + 1)
      if (missing.size > 0) unreadable++
      for (const [key, file] of missing) count(counted, `${key}\n${event.release ?? ''}`, file, event.release, issueId)
      await setImmediate()
    }
  }
  const items = [...counted.values()].toSorted((a, b) => b.events - a.events).slice(0, MAX_ITEMS)
  return {
    items: items.map(({ file, release, events, issueIds }) => ({
      kind: file.kind,
      name: file.name,
      debug_id: file.debugId,
      reason: file.reason,
      release,
      events,
      issues: issueIds.size,
      issue_ids: [...issueIds].slice(0, MAX_ISSUES),
      command: uploadCommand(file, { org, project: project.slug, release }),
    })),
    used: [...uses].map(([file_id, events]) => ({ file_id, events })),
    looked_at: places.length,
    unreadable,
    oldest_at: places.at(-1)?.occurredAt.toISOString() ?? null,
  }
}

function count(
  counted: Map<string, Counted>,
  key: string,
  file: MissingFile,
  release: string | null,
  issueId: string,
): void {
  const one = counted.get(key) ?? { file, release, events: 0, issueIds: new Set<string>() }
  counted.set(key, one)
  one.events++
  one.issueIds.add(issueId)
}

/** The organisation and project that a tool uploads to, and the release. */
type UploadTarget = { readonly org: string; readonly project: string; readonly release: string | null }

/** The command that uploads a missing file, with the values of the event. Texts of events are quoted for a shell. */
function uploadCommand({ kind, debugId }: MissingFile, { org, project, release }: UploadTarget): string {
  const where = `--org ${quoted(org)} --project ${quoted(project)}`
  switch (kind) {
    case 'source_map':
      return debugId === null && release !== null
        ? `sentry-cli sourcemaps upload ${where} --release ${quoted(release)} ./dist`
        : `sentry-cli sourcemaps upload ${where} ./dist`
    case 'mapping':
      return debugId === null
        ? `sentry-cli upload-proguard ${where} app/build/outputs/mapping/release/mapping.txt`
        : `sentry-cli upload-proguard ${where} --uuid ${quoted(debugId)} app/build/outputs/mapping/release/mapping.txt`
    case 'debug_file':
      return debugId === null
        ? `sentry-cli debug-files upload ${where} ./build`
        : `sentry-cli debug-files upload ${where} --id ${quoted(debugId)} ./build`
  }
}

const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
