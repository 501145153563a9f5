import type { Tx } from '../../platform/storage/database.ts'
import type { InboxKind, SubscriptionReason } from './kinds.ts'
import { memberBehind, type Actor } from '../../platform/context/actor.ts'

/** SQL of what facts write to inboxes and subscriptions. */

/** A member with this number of unread entries gets only mentions until some are read. */
export const MAX_UNREAD = 1_000

/** The maximum number of subscribers of one issue who are notified. */
export const MAX_SUBSCRIBERS = 100

/** A notification for one member. */
export type Notification = {
  readonly id: string
  readonly org_id: string
  readonly user_id: string
  readonly issue_id: string
  readonly kind: InboxKind
  readonly comment_id: string | null
  readonly sentence: string
}

const INSERT_NOTIFICATIONS = `
  with new_entries as (
    select k.* from jsonb_to_recordset($1::jsonb)
      k (id uuid, org_id uuid, user_id uuid, issue_id uuid, kind text, comment_id uuid, sentence text)
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
  select a.id, a.org_id, a.user_id, a.issue_id, a.kind, $3::uuid, a.comment_id, a.sentence, $2::timestamptz
  from new_entries a join members p on p.id = a.user_id and p.org_id = a.org_id
  where a.kind = 'mentioned' or not exists (select from full_inboxes f where f.id = a.user_id and f.org_id = a.org_id)
  order by a.user_id, a.id
  on conflict (comment_id, user_id, kind) where comment_id is not null do nothing
  returning org_id, user_id`

/**
 * Writes notifications to the inboxes of active members.
 * @param actorId the member who caused them, or null
 * @returns the inboxes that changed
 */
export async function insertNotifications(
  tx: Tx,
  now: Date,
  actorId: string | null,
  notifications: readonly Notification[],
): Promise<{ readonly org_id: string; readonly user_id: string }[]> {
  const { rows } = await tx.query<{ org_id: string; user_id: string }>(INSERT_NOTIFICATIONS, [
    JSON.stringify(notifications),
    now,
    actorId,
  ])
  return rows
}

export type NewSubscription = {
  readonly issue_id: string
  readonly user_id: string
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
  await tx.query(SUBSCRIBE, [JSON.stringify(rows), now])
}

const SUBSCRIBERS = `
  select k.id as issue_id, s.user_id
  from issues k
  cross join lateral (
    select s.user_id from (
      select s.user_id from issue_subscriptions s
      where s.issue_id = k.id and s.is_subscribed
      union
      select s.user_id from issue_groups g join issue_subscriptions s on s.issue_id = g.id and s.is_subscribed
      where g.issue_id = k.id and g.id <> k.id and not exists (
        select from issue_subscriptions own where own.issue_id = k.id and own.user_id = s.user_id)
    ) s
    join memberships p on p.user_id = s.user_id and p.org_id = k.org_id and p.disabled_at is null
    join users u on u.id = s.user_id and u.disabled_at is null
    order by s.user_id limit ${MAX_SUBSCRIBERS}
  ) s
  where k.id = any($1::uuid[])
  order by k.id, s.user_id`

/** Subscribers of these issues and of those merged into them: the oldest {@link MAX_SUBSCRIBERS} of each. */
export async function selectSubscribers(
  tx: Tx,
  issueIds: readonly string[],
): Promise<{ readonly issue_id: string; readonly user_id: string }[]> {
  const { rows } = await tx.query<{ issue_id: string; user_id: string }>(SUBSCRIBERS, [[...issueIds]])
  return rows
}

type NewActivity = {
  readonly id: string
  readonly issueId: string
  readonly kind: string
  readonly sentence: string
  readonly data: object
  readonly at: Date
}

/** Writes entries of the activity of issues. An entry with a known id replaces the earlier one. */
export function writeActivity(tx: Tx, actor: Actor, entries: readonly NewActivity[]): void {
  tx.sendReferring({
    name: 'facts-write-activity',
    text: `insert into issue_activity (id, issue_id, kind, actor_id, sentence, data, created_at)
           select k.id, k.issue_id, k.kind, $7::uuid, k.sentence, k.data::jsonb, k.at
           from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
             k (id, issue_id, kind, sentence, data, at)
           on conflict (id) do update set sentence = excluded.sentence, data = excluded.data`,
    values: [
      entries.map(({ id }) => id),
      entries.map(({ issueId }) => issueId),
      entries.map(({ kind }) => kind),
      entries.map(({ sentence }) => sentence),
      entries.map(({ data }) => JSON.stringify(data)),
      entries.map(({ at }) => at),
      memberBehind(actor)?.userId ?? null,
    ],
  })
}
