import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { listAttachments } from '../attachments/list-attachments.ts'
import type { Actor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import type { StoredEvent } from '../events/event.ts'
import { feedbackOfIssue } from '../feedback/list-feedback.ts'
import { neighbours, newestEvents, readEvent } from '../events/store.ts'
import { notFound } from '../kernel/errors.ts'
import { eventIdFrom } from '../kernel/ids.ts'
import { Json } from '../kernel/json.api.ts'
import type { Event } from '../protocol/event.api.ts'
import { readStoredEvent } from '../protocol/read-stored.ts'
import { GroupingView, type Activity, type IssueDetail } from './issues.api.ts'
import { selectActivity, selectGrouping, selectIssue } from './issues.queries.ts'
import { distributionOf } from './tag-distribution.ts'
import { viewIssues, viewPerson } from './view-issue.ts'

/** Events the tag distribution is drawn from: the newest so many, whatever the issue holds. */
const SAMPLE_EVENTS = 100
/** And no more JSON than this: an event may have 1 MiB, and reading it holds up everything else in this process. */
const SAMPLE_BYTES = 2 * 1024 * 1024
const ACTIVITY_ENTRIES = 100
const FEEDBACK_ITEMS = 25

/**
 * An issue with one of its events, what its newest events share, and its history.
 * @param which `latest`, `oldest` or an event id
 * @throws AppError not_found for the issue, or for an event that is not one of its own
 */
export async function readIssue(app: App, actor: Actor, issueId: string, which: string): Promise<IssueDetail> {
  const row = await selectIssue(app.db, actor, issueId)
  if (row === undefined) throw notFound('Issue')
  const [stored, sample, activity, grouping, project, [issue]] = await Promise.all([
    chosenEvent(app, row, which),
    newestEvents(app.db, issueId, SAMPLE_EVENTS, SAMPLE_BYTES),
    selectActivity(app.db, issueId, ACTIVITY_ENTRIES),
    selectGrouping(app.db, issueId),
    app.db
      .selectFrom('projects')
      .select(['id', 'name', 'slug', 'platform'])
      .where('id', '=', row.project_id)
      .executeTakeFirst(),
    viewIssues(app, [row]),
  ])
  if (issue === undefined || project === undefined) throw notFound('Issue')
  return {
    ...issue,
    project,
    event: stored === null ? null : readable(app, stored),
    event_ids: await neighbours(app.db, issueId, stored),
    attachments: await listAttachments(app.db, project.id, stored === null ? [] : [stored.eventId]),
    feedback: await feedbackOfIssue(app, project.id, issueId, FEEDBACK_ITEMS),
    tag_distribution: distributionOf(await tagsOf(app, sample)),
    activity: activity.map(viewActivity),
    grouping: GroupingView.parse({ version: grouping?.grouping_version ?? 1, parts: grouping?.parts ?? [] }),
  }
}

async function chosenEvent(
  app: App,
  issue: { id: string; project_id: string },
  which: string,
): Promise<StoredEvent | null> {
  if (which === 'latest' || which === 'oldest') return readEvent(app.db, issue.id, which)
  const eventId = eventIdFrom(which)
  const stored = eventId === null ? null : await readEvent(app.db, issue.id, { projectId: issue.project_id, eventId })
  if (stored === null) throw notFound('Event')
  return stored
}

/** One event at a time: between two of them other requests have their turn. */
async function tagsOf(app: App, sample: readonly StoredEvent[]): Promise<Event['tags'][]> {
  const tags: Event['tags'][] = []
  for (const stored of sample) {
    tags.push(readable(app, stored)?.tags ?? [])
    await setImmediate()
  }
  return tags
}

/** One damaged body must not hide the issue. */
function readable(app: App, stored: StoredEvent): Event | null {
  try {
    return readStoredEvent(stored)
  } catch (error) {
    app.log.warn(
      { event_id: stored.eventId, err: error instanceof Error ? error.message : String(error) },
      'a stored event cannot be read',
    )
    return null
  }
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
