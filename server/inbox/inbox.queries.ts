import { sql } from 'kysely'
import { memberBehind, type Actor, type Member } from '../context/actor.ts'
import { newId } from '../kernel/ids.ts'
import { MAX_IDS, publishLive } from '../live/publish.ts'
import type { Connection, Tx } from '../storage/database.ts'

/** SQL of inboxes and subscriptions, for digestion, jobs and requests. */

export type InboxKind = 'assigned' | 'mentioned' | 'commented' | 'regressed' | 'escalated' | 'reopened'
export type SubscriptionReason = 'manual' | 'assigned' | 'mentioned' | 'commented' | 'changed'

/** A notification for one member. */
export type Notification = {
  readonly orgId: string
  readonly userId: string
  readonly issueId: string
  readonly kind: InboxKind
  readonly actor: Actor
  readonly commentId: string | null
  readonly sentence: string
}

/** A member with this number of unread entries gets only mentions until some are read. */
export const MAX_UNREAD = 1_000

const INSERT_NOTIFICATIONS = `
  with new_entries as (
    select k.* from jsonb_to_recordset($1::jsonb)
      k (id uuid, org_id uuid, user_id uuid, issue_id uuid, kind text, actor_id uuid, comment_id uuid, sentence text)
  ), members as (
    select m.user_id as id, m.org_id from memberships m join users u on u.id = m.user_id
    where (m.user_id, m.org_id) in (select user_id, org_id from new_entries) and m.disabled_at is null and u.disabled_at is null
    order by m.user_id, m.org_id for key share of m
  ), full_inboxes as (
    select p.id, p.org_id from members p
    where (select count(*) from (
      select 1 from inbox_entries e where e.user_id = p.id and e.org_id = p.org_id and e.read_at is null limit ${MAX_UNREAD}) x) = ${MAX_UNREAD}
  )
  insert into inbox_entries (id, org_id, user_id, issue_id, kind, actor_id, comment_id, sentence, created_at)
  select a.id, a.org_id, a.user_id, a.issue_id, a.kind, a.actor_id, a.comment_id, a.sentence, $2::timestamptz
  from new_entries a join members p on p.id = a.user_id and p.org_id = a.org_id
  where a.kind = 'mentioned' or not exists (select from full_inboxes f where f.id = a.user_id and f.org_id = a.org_id)
  order by a.user_id, a.id
  on conflict (comment_id, user_id, kind) where comment_id is not null do nothing
  returning org_id, user_id`

/** Writes notifications to inboxes and updates open dashboards. Members are not notified of what they did themselves. */
export async function notify(tx: Tx, now: Date, notifications: readonly Notification[]): Promise<void> {
  const rows = notifications
    .map((one) => ({ ...one, actorId: memberBehind(one.actor)?.userId ?? null }))
    .filter(({ userId, actorId }) => userId !== actorId)
    .map((one) => ({
      id: newId(),
      org_id: one.orgId,
      user_id: one.userId,
      issue_id: one.issueId,
      kind: one.kind,
      actor_id: one.actorId,
      comment_id: one.commentId,
      sentence: one.sentence,
    }))
  if (rows.length === 0) return
  const { rows: inserted } = await tx.query<{ org_id: string; user_id: string }>(INSERT_NOTIFICATIONS, [
    JSON.stringify(rows),
    now,
  ])
  for (const [orgId, ofOrg] of Map.groupBy(inserted, (row) => row.org_id))
    await publishInbox(
      tx,
      orgId,
      ofOrg.map((row) => row.user_id),
    )
}

/** Publishes, when the transaction commits, that the inboxes of these users changed. */
export async function publishInbox(tx: Tx, orgId: string, userIds: readonly string[]): Promise<void> {
  const ids = [...new Set(userIds)]
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    const message = { kind: 'inbox' as const, user_ids: ids.slice(at, at + MAX_IDS) }
    await publishLive(tx, orgId, message)
  }
}

/** Users with notifications of a comment. The notifications are deleted with the comment. */
export async function notifiedOfComment(tx: Tx, commentId: string): Promise<string[]> {
  const rows = await tx.selectFrom('inbox_entries').select('user_id').where('comment_id', '=', commentId).execute()
  return rows.map((row) => row.user_id)
}

export type NewSubscription = {
  readonly issueId: string
  readonly userId: string
  readonly reason: Exclude<SubscriptionReason, 'manual'>
}

const SUBSCRIBE = `
  insert into issue_subscriptions (issue_id, user_id, reason, is_subscribed, changed_at)
  select distinct on (k.issue_id, k.user_id) k.issue_id, k.user_id, k.reason, true, $2::timestamptz
  from jsonb_to_recordset($1::jsonb) k (issue_id uuid, user_id uuid, reason text)
  order by k.issue_id, k.user_id
  on conflict (issue_id, user_id) do nothing`

/** Subscribes users who never were subscribed. A user who unsubscribed stays so; a subscribed user keeps the reason. */
export async function subscribeAutomatically(tx: Tx, now: Date, rows: readonly NewSubscription[]): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map(({ issueId, userId, reason }) => ({ issue_id: issueId, user_id: userId, reason }))
  await tx.query(SUBSCRIBE, [JSON.stringify(values), now])
}

/** The maximum number of subscribers of one issue who are notified. */
export const MAX_SUBSCRIBERS = 100

const SUBSCRIBERS = `
  select k.id as issue_id, s.user_id
  from issues k
  cross join lateral (
    select s.user_id from (
      select s.user_id from issue_subscriptions s
      where s.issue_id = k.id and s.is_subscribed
      union
      select s.user_id from issues m join issue_subscriptions s on s.issue_id = m.id and s.is_subscribed
      where m.merged_into = k.id and not exists (
        select from issue_subscriptions own where own.issue_id = k.id and own.user_id = s.user_id)
    ) s
    join memberships p on p.user_id = s.user_id and p.org_id = k.org_id and p.disabled_at is null
    join users u on u.id = s.user_id and u.disabled_at is null
    order by s.user_id limit ${MAX_SUBSCRIBERS}
  ) s
  where k.id = any($1::uuid[])
  order by k.id, s.user_id`

/** Subscribers of these issues and of those merged into them: the oldest {@link MAX_SUBSCRIBERS} of each. */
export async function subscribersOf(
  tx: Tx,
  issueIds: readonly string[],
): Promise<{ readonly issueId: string; readonly userId: string }[]> {
  if (issueIds.length === 0) return []
  const { rows } = await tx.query<{ issue_id: string; user_id: string }>(SUBSCRIBERS, [[...issueIds]])
  return rows.map((row) => ({ issueId: row.issue_id, userId: row.user_id }))
}

/** A user has one inbox in each organisation. */
export type InboxOwner = Pick<Member, 'userId' | 'orgId'>

export type Cursor = { readonly unread: boolean; readonly at: Date; readonly id: string }

export type InboxRow = Awaited<ReturnType<typeof selectInbox>>[number]

/** A page of a member's inbox, unread first, then newest first; a merged issue is shown as its merge target. */
export function selectInbox(
  db: Connection,
  member: InboxOwner,
  page: { limit: number; offset: number; after: Cursor | null; unreadOnly: boolean },
) {
  let query = db
    .selectFrom('inbox_entries as e')
    .innerJoin('issues as own', 'own.id', 'e.issue_id')
    .innerJoin('issues as i', (join) => join.on(sql<boolean>`i.id = coalesce(own.merged_into, own.id)`))
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .leftJoin('users as a', 'a.id', 'e.actor_id')
    .select([
      'e.id',
      'e.kind',
      'e.sentence',
      'e.comment_id',
      'e.created_at',
      'e.read_at',
      'e.actor_id',
      'a.name as actor_name',
      'a.email as actor_email',
      'i.id as issue_id',
      'i.project_id',
      'i.number',
      'i.title',
      'i.status',
      'i.severity',
      'p.slug as project_slug',
    ])
    .where('e.user_id', '=', member.userId)
    .where('e.org_id', '=', member.orgId)
  if (page.unreadOnly) query = query.where('e.read_at', 'is', null)
  if (page.after !== null) {
    const { unread, at, id } = page.after
    query = query.where(
      sql<boolean>`(e.read_at is null, e.created_at, e.id) < (${unread}::boolean, ${at}::timestamptz, ${id}::uuid)`,
    )
  }
  return query
    .orderBy(sql`(e.read_at is null)`, 'desc')
    .orderBy('e.created_at', 'desc')
    .orderBy('e.id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
}

/** Entries of a member's inbox, counted up to one beyond `max`. */
export async function countInbox(
  db: Connection,
  member: InboxOwner,
  unreadOnly: boolean,
  max: number,
): Promise<number> {
  let capped = db
    .selectFrom('inbox_entries')
    .select('id')
    .where('user_id', '=', member.userId)
    .where('org_id', '=', member.orgId)
  if (unreadOnly) capped = capped.where('read_at', 'is', null)
  const row = await db
    .selectFrom(capped.limit(max + 1).as('capped'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return row.n
}

/** Marks entries of a member's inbox as read; returns how many were unread. */
export async function markRead(
  tx: Tx,
  member: InboxOwner,
  which: { readonly ids: readonly string[] } | { readonly before: Date },
  now: Date,
): Promise<number> {
  let query = tx
    .updateTable('inbox_entries')
    .set({ read_at: now })
    .where('user_id', '=', member.userId)
    .where('org_id', '=', member.orgId)
    .where('read_at', 'is', null)
  query =
    'ids' in which
      ? query.where(sql<boolean>`id = any(${[...which.ids]}::uuid[])`)
      : query.where('created_at', '<=', which.before)
  const { numUpdatedRows } = await query.executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Deletes entries created before a time, at most `max`; returns their number. */
export async function deleteEntries(db: Connection, before: Date, max: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('inbox_entries')
    .where('id', 'in', (eb) => eb.selectFrom('inbox_entries').select('id').where('created_at', '<', before).limit(max))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

export const selectSubscription = (on: Connection, issueId: string, userId: string) =>
  on
    .selectFrom('issue_subscriptions')
    .select(['reason', 'is_subscribed', 'changed_at'])
    .where('issue_id', '=', issueId)
    .where('user_id', '=', userId)
    .executeTakeFirst()

/** Subscribes a member; one that is subscribed already keeps the reason. */
export async function subscribeManually(tx: Tx, issueId: string, userId: string, now: Date): Promise<void> {
  await tx
    .insertInto('issue_subscriptions')
    .values({ issue_id: issueId, user_id: userId, reason: 'manual', is_subscribed: true, changed_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['issue_id', 'user_id'])
        .doUpdateSet({ reason: 'manual', is_subscribed: true, changed_at: now })
        .where('issue_subscriptions.is_subscribed', '=', false),
    )
    .execute()
}

/** Unsubscribes a member, also one that never was subscribed: later automatic subscriptions skip them. */
export async function unsubscribeManually(tx: Tx, issueId: string, userId: string, now: Date): Promise<void> {
  await tx
    .insertInto('issue_subscriptions')
    .values({ issue_id: issueId, user_id: userId, reason: 'manual', is_subscribed: false, changed_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['issue_id', 'user_id'])
        .doUpdateSet({ is_subscribed: false, changed_at: now })
        .where('issue_subscriptions.is_subscribed', '=', true),
    )
    .execute()
}
