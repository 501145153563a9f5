import { sql, type Selectable, type SqlBool } from 'kysely'
import { hyphenate, newId, unhyphenate } from '../../platform/kernel/ids.ts'
import { TOTAL_CAP } from '../../platform/kernel/page.api.ts'
import type { Connection, Statement, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import type { NewFeedback } from './feedback.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { eraseUserMessages } from '../../platform/outbox/erase-messages.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** SQL of feedback. */

export type FeedbackRow = Selectable<Tables['feedback']> & {
  /** The issue it belongs to, or its merge target. */
  readonly shown_as: string | null
}

type ReceivedFeedback = {
  readonly projectId: string
  readonly receivedAt: Date
  readonly feedback: NewFeedback
  /** The issue of its event, when that is already stored. */
  readonly issueId: string | null
}

/** Inserts feedback that is not stored yet. @returns `projectId/feedbackId` of what was inserted */
export async function insertFeedback(tx: Tx, rows: readonly ReceivedFeedback[]): Promise<Set<string>> {
  const of = <T>(pick: (row: NewFeedback) => T): T[] => rows.map(({ feedback }) => pick(feedback))
  const uuid = (id: string | null): string | null => (id === null ? null : hyphenate(id))
  const { rows: inserted } = await tx.query<{ project_id: string; feedback_id: string }>({
    name: 'feedback-insert',
    text: `insert into feedback (id, project_id, feedback_id, received_at, event_id, issue_id, message, name, email, url, source, replay_id, release, environment, user_hash, context)
           select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::uuid[], $13::text[], $14::text[], $15::bigint[], $16::jsonb[])
           on conflict (project_id, feedback_id) do nothing
           returning project_id, feedback_id`,
    values: [
      rows.map(() => newId()),
      rows.map((row) => row.projectId),
      of((row) => hyphenate(row.feedbackId)),
      rows.map((row) => row.receivedAt),
      of((row) => uuid(row.eventId)),
      rows.map((row) => row.issueId),
      of((row) => row.message),
      of((row) => row.name),
      of((row) => row.email),
      of((row) => row.url),
      of((row) => row.source),
      of((row) => uuid(row.replayId)),
      of((row) => row.release),
      of((row) => row.environment),
      of((row) => row.userHash),
      of((row) => (row.context === null ? null : JSON.stringify(row.context))),
    ],
  })
  return new Set(inserted.map((row) => `${row.project_id}/${unhyphenate(row.feedback_id)}`))
}

type EventKey = { readonly projectId: string; readonly eventId: string }

/** Up to this number, all waiting feedback of the projects is read. */
const MAX_READ_AT_ONCE = 500

/**
 * The events that feedback waits for. Runs with every batch: usually nothing waits in the projects, and finding that out
 * takes a tenth of the time of a look-up per event.
 */
export async function findAwaited(tx: Tx, events: readonly EventKey[]): Promise<EventKey[]> {
  const projectIds = [...new Set(events.map((event) => event.projectId))]
  const waiting = await selectAwaited(tx, {
    name: 'feedback-waiting',
    text: `select f.project_id, f.event_id from feedback f
           where f.project_id = any($1::uuid[]) and f.issue_id is null and f.event_id is not null limit ${MAX_READ_AT_ONCE + 1}`,
    values: [projectIds],
  })
  if (waiting.length === 0) return []
  if (waiting.length <= MAX_READ_AT_ONCE) {
    const keys = new Set(events.map(({ projectId, eventId }) => `${projectId}/${eventId}`))
    return waiting.filter(({ projectId, eventId }) => keys.has(`${projectId}/${eventId}`))
  }
  return selectAwaited(tx, {
    name: 'feedback-find-awaited',
    text: `select distinct f.project_id, f.event_id from unnest($1::uuid[], $2::uuid[]) k (project_id, event_id)
           join feedback f on f.project_id = k.project_id and f.event_id = k.event_id
           where f.issue_id is null and f.event_id is not null`,
    values: [events.map((event) => event.projectId), events.map((event) => hyphenate(event.eventId))],
  })
}

async function selectAwaited(tx: Tx, query: Statement): Promise<EventKey[]> {
  const { rows } = await tx.query<{ project_id: string; event_id: string }>(query)
  return rows.map((row) => ({ projectId: row.project_id, eventId: unhyphenate(row.event_id) }))
}

/** Sets the issue of waiting feedback. @param issues by `projectId/eventId` */
export async function linkFeedback(tx: Tx, issues: ReadonlyMap<string, string>): Promise<void> {
  const links = [...issues].sort(([a], [b]) => (a < b ? -1 : 1))
  await tx.query({
    name: 'feedback-link',
    text: `update feedback f set issue_id = k.issue_id
           from unnest($1::uuid[], $2::uuid[], $3::uuid[]) k (project_id, event_id, issue_id)
           where f.project_id = k.project_id and f.event_id = k.event_id and f.issue_id is null`,
    values: [
      links.map(([key]) => key.slice(0, 36)),
      links.map(([key]) => hyphenate(key.slice(37))),
      links.map(([, issueId]) => issueId),
    ],
  })
}

type FeedbackFilter = {
  readonly projectId: string
  readonly issueId?: string | undefined
  readonly linked?: boolean | undefined
  readonly release?: string | undefined
  readonly environment?: string | undefined
}

type FeedbackPage = {
  readonly descending: boolean
  readonly limit: number
  readonly offset: number
  /** Last row of the previous page. */
  readonly after: { readonly receivedAt: Date; readonly id: string } | null
}

function filtered(db: Connection, filter: FeedbackFilter) {
  let query = db.selectFrom('feedback').where('project_id', '=', filter.projectId).where('status', '<>', 'spam')
  if (filter.issueId !== undefined) {
    // Feedback is stored under the issue of its event. Includes issues merged into this one, or into the same target.
    const { issueId } = filter
    query = query.where(
      sql<SqlBool>`issue_id in (select g.id from issue_groups g
        where g.issue_id = (select r.issue_id from issue_groups r where r.id = ${issueId}))`,
    )
  }
  if (filter.linked !== undefined) query = query.where('issue_id', filter.linked ? 'is not' : 'is', null)
  if (filter.release !== undefined) query = query.where('release', '=', filter.release)
  if (filter.environment !== undefined) query = query.where('environment', '=', filter.environment)
  return query
}

export function selectFeedback(db: Connection, filter: FeedbackFilter, page: FeedbackPage): Promise<FeedbackRow[]> {
  const direction = page.descending ? 'desc' : 'asc'
  let query = filtered(db, filter)
    .selectAll('feedback')
    .select(sql<string | null>`(select g.issue_id from issue_groups g where g.id = feedback.issue_id)`.as('shown_as'))
  if (page.after !== null) {
    const beyond = sql.raw(page.descending ? '<' : '>')
    query = query.where(
      sql<SqlBool>`(received_at, id) ${beyond} (${page.after.receivedAt}::timestamptz, ${page.after.id}::uuid)`,
    )
  }
  return query
    .orderBy('received_at', direction)
    .orderBy('id', direction)
    .limit(page.limit)
    .offset(page.after === null ? page.offset : 0)
    .execute()
}

/** Number of rows, counted up to {@link TOTAL_CAP} + 1. */
export async function countFeedback(db: Connection, filter: FeedbackFilter): Promise<number> {
  const capped = filtered(db, filter)
    .select('id')
    .limit(TOTAL_CAP + 1)
  const { n } = await db
    .selectFrom(capped.as('capped'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

/**
 * Deletes the feedback of one of the app's users, by user hash, events and e-mail addresses, with what members wrote
 * about it and the mails that they sent.
 * @returns ids of the deleted feedback, 32 hex digits, for its files
 */
export async function deleteUserFeedback(
  tx: Tx,
  projectId: string,
  user: {
    readonly userHash: number
    readonly eventIds: readonly string[]
    /** E-mail addresses of the author, compared without case. */
    readonly emails?: readonly string[]
  },
): Promise<string[]> {
  const rows = await tx
    .deleteFrom('feedback')
    .where('project_id', '=', projectId)
    .where((eb) =>
      eb.or([
        eb('user_hash', '=', user.userHash),
        eb('event_id', '=', sql<string>`any(${user.eventIds.map(hyphenate)}::uuid[])`),
        eb(
          sql`lower(email)`,
          '=',
          sql<string>`any(${(user.emails ?? []).map((email) => email.toLowerCase())}::text[])`,
        ),
      ]),
    )
    .returning(['id', 'feedback_id'])
    .execute()
  // Mails to the author name the message.
  for (const { id } of rows) await eraseUserMessages(tx, id)
  return rows.map((row) => unhyphenate(row.feedback_id))
}

/** Deletes the feedback of an issue. @returns event ids of its files, 32 hex digits */
export async function deleteFeedbackOfIssue(db: Connection, issueId: string): Promise<string[]> {
  const rows = await db.deleteFrom('feedback').where('issue_id', '=', issueId).returning('feedback_id').execute()
  return rows.map((row) => unhyphenate(row.feedback_id))
}

export const FEEDBACK_ROWS = ownRows('feedback')
export const FEEDBACK_PART = projectPart(1_000, [FEEDBACK_ROWS], { cascades: ['feedback_activity'] })
