import { setImmediate } from 'node:timers/promises'
import { readEvents } from '../../events/store/store.queries.ts'
import type { App } from '../../platform/context/app.ts'
import { DAY_MS, dayPlus, utcDay } from '../../platform/kernel/day.ts'
import { publishLive } from '../../platform/live/publish.ts'
import { selectProjectForDigestion } from '../../projects/registry/projects.queries.ts'
import { eachFrame } from '../../symbols/symbolication/readable-frame.ts'
import { compileGrouping, type ProjectGrouping } from '../grouping/grouping.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { openReadable } from '../issue-events/open-event.ts'
import { issuesSeenSince } from '../issue-events/sources.queries.ts'
import { lockRelation } from '../rows/groups.queries.ts'
import { buildIndexTerms } from '../search/index-terms.ts'
import { listEventFacts, listIndexedTexts } from '../search/facts.ts'
import { addTerms } from '../search/index-documents.ts'
import { awaitFold } from './await-fold.ts'
import { type GroupTexts, selectGroupTexts, updateGroupTexts } from './renew-texts.queries.ts'

/** Issues that were not seen for longer keep their texts. */
const MAX_AGE_MS = 30 * DAY_MS
const MAX_ISSUES = 5_000
/** Issues per transaction; their newest events take 25 MiB at most. */
const BATCH = 25

type Owned = { readonly orgId: string; readonly projectId: string }
type Texts = Pick<GroupTexts, 'title' | 'culprit' | 'errorType' | 'errorValue'>
/** A group as its newest event reads now. */
type Reading = GroupTexts & { readonly hasNewTexts: boolean; readonly terms: readonly string[] }

/**
 * Reads the newest events of a project's issues with the files of symbols that are there now, and sets titles, culprits and
 * search terms of the issues that became readable. Groups stay as they are.
 * @returns the number of issues that changed
 */
export async function renewTexts(app: App, projectId: string, signal?: AbortSignal): Promise<number> {
  const project = await selectProjectForDigestion(app.db, projectId)
  if (project === undefined) return 0
  // Texts of events that are not counted yet would replace the renewed ones.
  await awaitFold(app, signal)
  const since = new Date(app.clock.now().getTime() - MAX_AGE_MS)
  const issueIds = await issuesSeenSince(app.db, projectId, since, MAX_ISSUES)
  const owned = { orgId: project.org_id, projectId }
  const grouping = compileGrouping(groupingSettings(project.settings))
  let changed = 0
  for (let from = 0; from < issueIds.length && signal?.aborted !== true; from += BATCH) {
    const readings = await readAgain(
      app,
      owned,
      grouping,
      await selectGroupTexts(app.db, issueIds.slice(from, from + BATCH)),
    )
    changed += await storeTexts(
      app,
      owned,
      readings.filter(({ hasNewTexts }) => hasNewTexts),
    )
    await storeTerms(app, readings)
  }
  if (changed > 0) app.log.info({ project_id: projectId, issues: changed }, 'issues.texts_renewed')
  return changed
}

/** The groups whose newest event has readable frames. */
async function readAgain(
  app: App,
  owned: Owned,
  grouping: ProjectGrouping,
  groups: readonly GroupTexts[],
): Promise<Reading[]> {
  const now = app.clock.now()
  const oldestMs = Math.min(now.getTime(), ...groups.map(({ lastSeen }) => lastSeen.getTime()))
  const stored = await readEvents(
    app.db,
    owned.projectId,
    groups.map(({ eventId }) => eventId),
    // An event is at most a minute ahead of its receipt (docs/protocol.md §15.1).
    { first: dayPlus(utcDay(new Date(oldestMs)), -1), last: dayPlus(utcDay(now), 1) },
  )
  const byEvent = new Map(stored.map((one) => [one.eventId, one]))
  const readings: Reading[] = []
  for (const group of groups) {
    const body = byEvent.get(group.eventId)
    const opened = body === undefined ? null : await openReadable(app, owned, body)
    if (opened === null) continue
    const { event, title } = grouping(opened, now)
    const texts: Texts = {
      title: title ?? event.title,
      culprit: event.culprit,
      errorType: event.error_type,
      errorValue: event.error_value,
    }
    const hasNewTexts = !isSame(group, texts)
    // A frame that was made readable keeps the values that the app sent.
    if (hasNewTexts || [...eachFrame(event)].some(({ raw }) => raw !== undefined))
      readings.push({
        ...group,
        ...texts,
        hasNewTexts,
        terms: buildIndexTerms(listIndexedTexts(event, title), listEventFacts(event)),
      })
    await setImmediate()
  }
  return readings
}

const isSame = (a: Texts, b: Texts): boolean =>
  a.title === b.title && a.culprit === b.culprit && a.errorType === b.errorType && a.errorValue === b.errorValue

/** @returns the number of issues that changed */
async function storeTexts(app: App, { orgId, projectId }: Owned, groups: readonly Reading[]): Promise<number> {
  if (groups.length === 0) return 0
  return app.tx(async (tx) => {
    await lockRelation(tx, [projectId])
    const changed = await updateGroupTexts(tx, groups)
    const issueIds = [...new Set(groups.flatMap(({ groupId, issueId }) => (changed.has(groupId) ? [issueId] : [])))]
    if (issueIds.length === 0) return 0
    await publishLive(tx, [
      {
        orgId,
        message: { kind: 'issues', project_id: projectId, issue_ids: issueIds, new_issue_ids: [], event_count: 0 },
      },
    ])
    return issueIds.length
  })
}

async function storeTerms(app: App, readings: readonly Reading[]): Promise<void> {
  if (readings.length === 0) return
  const terms = new Map<string, readonly string[]>()
  for (const one of readings) terms.set(one.issueId, [...(terms.get(one.issueId) ?? []), ...one.terms])
  await app.tx((tx) => addTerms(tx, terms, [...terms.keys()].toSorted()))
}
