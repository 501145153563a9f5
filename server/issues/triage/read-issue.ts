import { refusalErrors } from '../../events/attachments/list-attachments.ts'
import { selectProjectOfIssue } from '../../projects/registry/projects.queries.ts'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { StoredEvent } from '../../events/store/event.ts'
import { newestEvents } from '../../events/store/store.queries.ts'
import { markFrames } from '../grouping/grouping.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { Json } from '../../platform/kernel/json.api.ts'
import { chooseEvent, findNeighbours } from '../issue-events/choose-event.ts'
import { eventFilter, isUnfiltered, type EventQuery } from '../issue-events/event-filter.ts'
import { selectGroupIds } from '../rows/groups.queries.ts'
import { openEvent, openShown } from '../issue-events/open-event.ts'
import type { Tag } from '../../events/protocol/event.api.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import type { Activity, IssueDetail } from './issues.api.ts'
import { listCandidates } from './list-candidates.ts'
import { type IssueParts, readParts } from './parts.ts'
import { selectActivity, selectIssue } from '../rows/issues.queries.ts'
import { viewGrouping } from '../merging/view-grouping.ts'
import { viewIssues, viewPerson } from '../rows/view-issue.ts'

/**
 * The tag distribution is of this sample of the newest events. An event may have 1 MiB, a block of packed events too, and
 * parsing blocks this process.
 */
const SAMPLE = { limit: 100, maxBytes: 2 * 1024 * 1024, maxBlocks: 24 }
/** JSON that is parsed before other requests have their turn, at least one event: about a millisecond. */
const MAX_BYTES_PER_TURN = 128 * 1024
/** The constant cost of parsing one event, in bytes of JSON. */
const EVENT_COST_BYTES = 4 * 1024
const ACTIVITY_ENTRIES = 100

/**
 * An issue with one of its events, the tag distribution of its newest events, its activity, and the parts that other
 * domains offer.
 * @param which `latest`, `oldest`, `most_complete` or an event id
 * @param query filters for the chosen event and its neighbours
 * @throws AppError not_found for the issue, or for an event that is not one of its own; invalid for the query
 */
export async function readIssue(
  app: App,
  actor: OrgActor,
  parts: IssueParts,
  issueId: string,
  which: string,
  query: EventQuery = {},
): Promise<IssueDetail> {
  const row = await selectIssue(app.db, actor, issueId)
  if (row === undefined) throw notFound('Issue')
  const [issueIds, project] = await Promise.all([
    selectGroupIds(app.db, [row.id]),
    selectProjectOfIssue(app.db, row.project_id),
  ])
  if (project === undefined) throw notFound('Issue')
  const sources = { issueIds, oldestDay: oldestDay(project.settings, app.clock.now()) }
  const scope = { projectId: row.project_id, sources, filter: eventFilter(row.project_id, query) }
  const [sample, activity, grouping, [issue]] = await Promise.all([
    newestEvents(app.db, sources, SAMPLE),
    selectActivity(app.db, row.id, ACTIVITY_ENTRIES),
    viewGrouping(app.db, row),
    viewIssues(app, [row]),
  ])
  if (issue === undefined) throw notFound('Issue')
  const stored =
    which === 'latest' && isUnfiltered(scope.filter) ? (sample[0] ?? null) : await chooseEvent(app, scope, which)
  const event = stored === null ? null : await openShown(app, { orgId: actor.orgId, projectId: row.project_id }, stored)
  const [eventIds, offered, tags] = await Promise.all([
    findNeighbours(app, scope, stored, sample),
    readParts(parts, app, actor, { id: row.id, projectId: project.id, eventId: stored?.eventId ?? null, event }),
    tagsOf(app, sample),
  ])
  const refused = refusalErrors(offered.refused_attachments)
  const named = event === null || refused.length === 0 ? event : { ...event, errors: [...event.errors, ...refused] }
  const { settings, ...shown } = project
  const marked = named === null ? null : markFrames(named, groupingSettings(settings).grouping_rules)
  const entries = activity.map(viewActivity)
  return {
    ...issue,
    project: shown,
    event: marked,
    event_ids: eventIds,
    ...offered,
    tag_distribution: countTagValues(tags),
    activity: entries,
    candidates: await listCandidates(app, actor, {
      event: marked,
      settings,
      suspects: offered.code.suspects,
      activity: entries,
    }),
    grouping,
  }
}

async function tagsOf(app: App, sample: readonly StoredEvent[]): Promise<Tag[][]> {
  const tags: Tag[][] = []
  let bytes = 0
  for (const stored of sample) {
    if (bytes > MAX_BYTES_PER_TURN) {
      await setImmediate()
      bytes = 0
    }
    tags.push(openEvent(app, stored)?.tags ?? [])
    bytes += EVENT_COST_BYTES + stored.bodyEnd - stored.bodyStart
  }
  return tags
}

type ActivityRow = Awaited<ReturnType<typeof selectActivity>>[number]

const viewActivity = (row: ActivityRow): Activity => ({
  id: row.id,
  kind: row.kind,
  sentence: row.sentence,
  actor: viewPerson(row.actor_id, row.actor_name, row.actor_email),
  data: z.record(z.string(), Json).parse(row.data),
  created_at: row.created_at.toISOString(),
})

type Distribution = { key: string; total: number; values: { value: string; count: number }[] }

const MAX_KEYS = 40
const MAX_VALUES = 10

/** The number of events for each tag value; the most frequent keys and values first. */
function countTagValues(events: readonly (readonly Tag[])[]): Distribution[] {
  const keys = new Map<string, Map<string, number>>()
  for (const tags of events) {
    for (const { key, value } of tags) {
      const values = keys.get(key) ?? new Map<string, number>()
      values.set(value, (values.get(value) ?? 0) + 1)
      keys.set(key, values)
    }
  }
  return [...keys]
    .map(([key, values]) => ({
      key,
      total: [...values.values()].reduce((sum, count) => sum + count, 0),
      values: [...values]
        .map(([value, count]) => ({ value, count }))
        .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
        .slice(0, MAX_VALUES),
    }))
    .sort((a, b) => b.total - a.total || (a.key < b.key ? -1 : 1))
    .slice(0, MAX_KEYS)
}
