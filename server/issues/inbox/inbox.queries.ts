import { sql } from 'kysely'
import type { Member } from '../../platform/context/actor.ts'
import { inboxMessages, publishLive } from '../../platform/live/publish.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/** SQL of what members do with inboxes and subscriptions. Facts write them (`history/facts/inbox.queries.ts`). */

/** Publishes, when the transaction commits, that the inboxes of these users changed. */
export async function publishInbox(tx: Tx, orgId: string, userIds: readonly string[]): Promise<void> {
  if (userIds.length > 0) await publishLive(tx, inboxMessages(orgId, userIds))
}

/** Users with notifications of a comment. The notifications are deleted with the comment. */
export async function notifiedOfComment(tx: Tx, commentId: string): Promise<string[]> {
  const rows = await tx.selectFrom('inbox_entries').select('user_id').where('comment_id', '=', commentId).execute()
  return rows.map((row) => row.user_id)
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
    .innerJoin('issue_groups as g', 'g.id', 'e.issue_id')
    .innerJoin('issues as i', 'i.id', 'g.issue_id')
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
