import { sql, type RawBuilder } from 'kysely'
import { activeMembers } from '../../identity/team/members.queries.ts'
import { TOTAL_CAP } from '../../platform/kernel/page.api.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { FeedbackActivity, FeedbackStatus } from './feedback.api.ts'
import type { FeedbackRow } from './feedback.queries.ts'

/** SQL of the inbox of feedback. */

export type InboxFilter = {
  readonly orgId: string
  readonly projectId: string | null
  readonly issueId: string | null
  readonly statuses: readonly FeedbackStatus[]
  readonly assigneeId: string | null
  /** Words that must all occur; empty for every message. */
  readonly words: readonly string[]
}

type Place = { readonly receivedAt: Date; readonly id: string }

/** So many messages of a view are searched, the newest first: a text has no index. */
export const MAX_SEARCHED = 10_000
/** Counts of the views stop here. */
const COUNT_CAP = 1_000

const ofProjects = ({ orgId, projectId }: Pick<InboxFilter, 'orgId' | 'projectId'>): RawBuilder<unknown> =>
  projectId === null ? sql`p.org_id = ${orgId}` : sql`p.org_id = ${orgId} and p.id = ${projectId}`

/** Issues that are shown as this one, or as the issue that this one was merged into. */
const groupsShownWith = (issueId: string): RawBuilder<unknown> =>
  sql`select g.id from issue_groups g where g.issue_id = (select r.issue_id from issue_groups r where r.id = ${issueId})`

/** The newest `max` messages, by an index in every view. */
function newest(filter: InboxFilter, max: number, after: Place | null): RawBuilder<unknown> {
  const beyond =
    after === null ? sql`` : sql`and (f.received_at, f.id) < (${after.receivedAt}::timestamptz, ${after.id}::uuid)`
  const statuses = sql`${[...filter.statuses]}::text[]`
  const order = sql`order by f.received_at desc, f.id desc limit ${max}`
  if (filter.issueId !== null)
    return sql`select f.id, f.received_at from feedback f join projects p on p.id = f.project_id
      where ${ofProjects(filter)} and f.issue_id in (${groupsShownWith(filter.issueId)})
        and f.status = any(${statuses}) ${mine(filter)} ${beyond} ${order}`
  if (filter.assigneeId !== null)
    return sql`select f.id, f.received_at from feedback f join projects p on p.id = f.project_id
      where ${ofProjects(filter)} and f.status = any(${statuses}) ${mine(filter)} ${beyond} ${order}`
  return sql`select f.id, f.received_at from projects p cross join unnest(${statuses}) s (status)
    cross join lateral (
      select f.id, f.received_at from feedback f
      where f.project_id = p.id and f.status = s.status ${beyond} ${order}
    ) f where ${ofProjects(filter)} ${order}`
}

const mine = ({ assigneeId }: InboxFilter): RawBuilder<unknown> =>
  assigneeId === null ? sql`` : sql`and f.assignee_id = ${assigneeId}`

const matching = (words: readonly string[]): RawBuilder<unknown> =>
  sql.join(
    words.map((word) => {
      const pattern = `%${word.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
      return sql`concat_ws(' ', f.message, f.name, f.email, f.url, f.release) ilike ${pattern}`
    }),
    sql` and `,
  )

/** Rows of a view that match, newest first, with those that are beyond `after` only. */
function found(filter: InboxFilter, max: number, after: Place | null): RawBuilder<unknown> {
  if (filter.words.length === 0) return newest(filter, max, after)
  const beyond =
    after === null ? sql`` : sql`and (f.received_at, f.id) < (${after.receivedAt}::timestamptz, ${after.id}::uuid)`
  return sql`select f.id, f.received_at from (${newest(filter, MAX_SEARCHED, null)}) k join feedback f on f.id = k.id
    where ${matching(filter.words)} ${beyond} order by f.received_at desc, f.id desc limit ${max}`
}

export type MessageRow = FeedbackRow & {
  readonly org_id: string
  readonly project_name: string
  readonly issue_number: number | null
  readonly issue_slug: string
  readonly issue_title: string | null
  readonly assignee_name: string | null
  readonly assignee_email: string | null
  readonly reply_count: number
}

/** The messages of the ids, as pages show them. */
const shown = (db: Connection, orgId: string, ids: RawBuilder<unknown>): RawBuilder<MessageRow> => sql<MessageRow>`
  select f.*, p.org_id, p.name as project_name, i.id as shown_as, i.number as issue_number, p.slug as issue_slug,
    i.title as issue_title, m.name as assignee_name, m.email as assignee_email,
    (select count(*)::int from feedback_activity a where a.message_id = f.id and a.kind = 'reply') as reply_count
  from (${ids}) k
  join feedback f on f.id = k.id
  join projects p on p.id = f.project_id
  left join issue_groups g on g.id = f.issue_id
  left join issues i on i.id = g.issue_id
  left join (${activeMembers(db)}) m on m.id = f.assignee_id and m.org_id = ${orgId}
  where p.org_id = ${orgId}
  order by f.received_at desc, f.id desc`

export async function selectInbox(
  db: Connection,
  filter: InboxFilter,
  { limit, offset, after }: { readonly limit: number; readonly offset: number; readonly after: Place | null },
): Promise<MessageRow[]> {
  const ids = sql`select * from (${found(filter, limit + offset, after)}) f order by f.received_at desc, f.id desc limit ${limit} offset ${offset}`
  return (await shown(db, filter.orgId, ids).execute(db)).rows
}

/** Number of messages of a view, up to {@link TOTAL_CAP} + 1. */
export async function countInbox(db: Connection, filter: InboxFilter): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from (${found(filter, TOTAL_CAP + 1, null)}) f`.execute(db)
  return rows[0]?.n ?? 0
}

export type InboxCounts = {
  readonly inbox: number
  readonly unread: number
  readonly mine: number
  readonly spam: number
}

/** Numbers of messages in the views, each up to 1,000. */
export async function countViews(
  db: Connection,
  scope: Pick<InboxFilter, 'orgId' | 'projectId'>,
  userId: string | null,
): Promise<InboxCounts> {
  const count = (where: RawBuilder<unknown>): RawBuilder<unknown> => sql`(select count(*)::int from (
    select from projects p cross join lateral (
      select from feedback f where f.project_id = p.id and ${where} limit ${COUNT_CAP}
    ) f where ${ofProjects(scope)} limit ${COUNT_CAP}) c)`
  const { rows } = await sql<InboxCounts>`select
    ${count(sql`f.status = 'open'`)} as inbox,
    ${count(sql`f.status = 'open' and f.read_at is null`)} as unread,
    ${count(sql`f.status = 'spam'`)} as spam,
    (select count(*)::int from (
      select from feedback f join projects p on p.id = f.project_id
      where f.assignee_id = ${userId}::uuid and f.status = 'open' and ${ofProjects(scope)} limit ${COUNT_CAP}) c) as mine`.execute(
    db,
  )
  return rows[0] ?? { inbox: 0, unread: 0, mine: 0, spam: 0 }
}

export async function selectMessage(db: Connection, orgId: string, id: string): Promise<MessageRow | undefined> {
  return (await shown(db, orgId, sql`select ${id}::uuid as id`).execute(db)).rows[0]
}

/** Locks a message of the organisation against other changes. */
export async function lockMessage(tx: Tx, orgId: string, id: string): Promise<FeedbackRow | undefined> {
  const { rows } = await sql<FeedbackRow>`
    select f.*, g.issue_id as shown_as from feedback f
    join projects p on p.id = f.project_id and p.org_id = ${orgId}
    left join issue_groups g on g.id = f.issue_id
    where f.id = ${id} for no key update of f`.execute(tx)
  return rows[0]
}

export type MessageChange = {
  readonly status?: FeedbackStatus
  readonly assignee_id?: string | null
  readonly read_at?: Date | null
  readonly notify_on_resolved?: boolean
}

export async function changeMessage(tx: Tx, id: string, change: MessageChange): Promise<void> {
  if (Object.keys(change).length === 0) return
  await tx.updateTable('feedback').set(change).where('id', '=', id).execute()
}

/** Number of other messages about an issue since a time, without spam, up to 1,000. */
export async function countOthers(
  db: Connection,
  { id, issueId, since }: { readonly id: string; readonly issueId: string; readonly since: Date },
): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from (
    select from feedback f where f.issue_id in (${groupsShownWith(issueId)}) and f.received_at >= ${since}
      and f.status <> 'spam' and f.id <> ${id} limit ${COUNT_CAP}) c`.execute(db)
  return rows[0]?.n ?? 0
}

export type NewEntry = {
  readonly id: string
  readonly message_id: string
  readonly kind: FeedbackActivity['kind']
  readonly actor_id: string | null
  readonly body?: string
  readonly data?: object
  readonly created_at: Date
}

export async function addEntries(tx: Tx, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 0) return
  await tx
    .insertInto('feedback_activity')
    .values(entries.map(({ data = {}, ...entry }) => ({ ...entry, data: JSON.stringify(data) })))
    .execute()
}

export type EntryRow = {
  readonly id: string
  readonly kind: FeedbackActivity['kind']
  readonly body: string | null
  readonly data: unknown
  readonly created_at: Date
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly actor_email: string | null
}

/** The newest entries of a message, oldest first. */
export async function selectEntries(db: Connection, messageId: string, max: number): Promise<EntryRow[]> {
  const rows = await db
    .selectFrom('feedback_activity as a')
    .leftJoin('users as u', 'u.id', 'a.actor_id')
    .select([
      'a.id',
      'a.kind',
      'a.body',
      'a.data',
      'a.created_at',
      'a.actor_id',
      'u.name as actor_name',
      'u.email as actor_email',
    ])
    .where('a.message_id', '=', messageId)
    .orderBy('a.id', 'desc')
    .limit(max)
    .execute()
  return rows.toReversed()
}

/** Counts entries of some kinds since a time. */
export async function countEntries(
  db: Connection,
  messageId: string,
  kinds: readonly FeedbackActivity['kind'][],
  since: Date,
): Promise<number> {
  const { n } = await db
    .selectFrom('feedback_activity')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('message_id', '=', messageId)
    .where('kind', 'in', [...kinds])
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow()
  return n
}

export async function newestReplyId(db: Connection, messageId: string): Promise<string | null> {
  const row = await db
    .selectFrom('feedback_activity')
    .select('id')
    .where('message_id', '=', messageId)
    .where('kind', '=', 'reply')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? null
}

export type WaitingAuthor = {
  readonly id: string
  readonly org_id: string
  readonly project_id: string
  readonly project_name: string
  readonly email: string | null
  readonly name: string | null
  readonly received_at: Date
}

/** Locks messages whose authors wait for the resolution of these issues, oldest first. */
export async function lockWaitingAuthors(tx: Tx, issueIds: readonly string[], max: number): Promise<WaitingAuthor[]> {
  const { rows } = await tx.query<WaitingAuthor>({
    name: 'feedback-waiting-authors',
    text: `select f.id, p.org_id, f.project_id, p.name as project_name, f.email, f.name, f.received_at
           from issue_groups g join feedback f on f.issue_id = g.id join projects p on p.id = f.project_id
           where g.issue_id = any($1::uuid[]) and f.notify_on_resolved and f.notified_at is null and f.status <> 'spam'
           order by f.id limit $2 for no key update of f`,
    values: [issueIds, max],
  })
  return rows
}

export async function markNotified(tx: Tx, ids: readonly string[], at: Date): Promise<void> {
  await tx.query({
    name: 'feedback-mark-notified',
    text: 'update feedback set notified_at = $2 where id = any($1::uuid[])',
    values: [ids, at],
  })
}
