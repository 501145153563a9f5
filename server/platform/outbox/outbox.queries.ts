import type { Connection, Tx } from '../storage/database.ts'
import type { LaneChange, Message, NewDelivery, NewLane, Replay } from './delivery.ts'

/** SQL of the verbs of the outbox; claiming and settling are in `engine.queries.ts`, lists in `deliveries.queries.ts`. */

export async function insertMessages(tx: Tx, messages: readonly Message[]): Promise<void> {
  await tx.query({
    name: 'outbox insert messages',
    text: `insert into outbox_messages (id, org_id, type, user_id, body, created_at)
      select m.*, now() from unnest($1::text[], $2::uuid[], $3::text[], $4::uuid[], $5::bytea[]) m`,
    values: [
      messages.map((one) => one.id),
      messages.map((one) => one.orgId),
      messages.map((one) => one.type),
      messages.map((one) => one.userId),
      messages.map((one) => one.body),
    ],
  })
}

export async function insertDeliveries(
  tx: Tx,
  deliveries: readonly (NewDelivery & { readonly id: string })[],
): Promise<void> {
  await tx.query({
    name: 'outbox insert deliveries',
    text: `insert into outbox_deliveries
        (id, lane_id, message_id, org_id, type, secret_version, created_at, next_attempt_at, due_at)
      select d.id, d.lane_id, d.message_id, m.org_id, m.type, d.secret_version, now(), now() + d.hold, now() + d.hold
      from unnest($1::text[], $2::uuid[], $3::text[], $4::int[], $5::interval[])
        with ordinality as d (id, lane_id, message_id, secret_version, hold, n)
      join outbox_messages m on m.id = d.message_id
      order by d.n`,
    values: [
      deliveries.map((one) => one.id),
      deliveries.map((one) => one.laneId),
      deliveries.map((one) => one.messageId),
      deliveries.map((one) => one.secretVersion ?? null),
      deliveries.map((one) => `${one.holdMs ?? 0} milliseconds`),
    ],
  })
}

export async function countDeliveries(tx: Tx, laneId: string, types: readonly string[], max: number): Promise<number> {
  const { rows } = await tx.query<{ n: number }>(
    `select count(*)::int as n from (
       select 1 from outbox_deliveries
       where lane_id = $1 and created_at > now() - interval '1 hour' and type = any($2::text[]) limit $3) recent`,
    [laneId, types, max],
  )
  return rows[0]?.n ?? 0
}

export async function insertLane(tx: Tx, lane: NewLane): Promise<void> {
  await tx
    .insertInto('outbox_lanes')
    .values({
      id: lane.id,
      org_id: lane.orgId,
      channel: lane.channel,
      max_per_second: lane.maxPerSecond ?? null,
      ...(lane.maxInFlight === undefined ? {} : { max_in_flight: lane.maxInFlight }),
      ...(lane.isStrict === undefined ? {} : { is_strict: lane.isStrict }),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export type LaneState = { readonly isPaused: boolean; readonly maxPerSecond: number | null; readonly isStrict: boolean }

/** Locks the lane until the transaction ends. */
export async function selectLocked(tx: Tx, laneId: string): Promise<LaneState | undefined> {
  const { rows } = await tx.query<LaneState>(
    `select paused_at is not null as "isPaused", max_per_second as "maxPerSecond", is_strict as "isStrict"
     from outbox_lanes where id = $1 for no key update`,
    [laneId],
  )
  return rows[0]
}

export async function updateLane(tx: Tx, laneId: string, change: LaneChange): Promise<void> {
  const { maxInFlight, maxPerSecond, isStrict, isPaused } = change
  await tx.query(
    `update outbox_lanes set
       max_in_flight = coalesce($2, max_in_flight),
       max_per_second = case when $3 then $4 else max_per_second end,
       is_strict = coalesce($5, is_strict),
       paused_at = case when $6::boolean is null then paused_at when $6 then coalesce(paused_at, now()) end
     where id = $1 and closed_at is null`,
    [laneId, maxInFlight ?? null, maxPerSecond !== undefined, maxPerSecond ?? null, isStrict ?? null, isPaused ?? null],
  )
}

export async function markLaneClosed(tx: Tx, laneId: string, reason: string): Promise<void> {
  await tx.query('update outbox_lanes set closed_at = now(), closed_reason = $2 where id = $1 and closed_at is null', [
    laneId,
    reason,
  ])
}

/**
 * Ends waiting deliveries of a closed lane, and those whose worker ended; those in flight are ended by their settlement.
 * @param leasesEndedBy as in `ClaimRequest`
 * @returns number ended
 */
export async function endDeliveries(
  on: Connection,
  laneId: string,
  max: number,
  leasesEndedBy: number,
): Promise<number> {
  const { rowCount } = await on.query(
    `update outbox_deliveries d
     set state = 'failed', reason = l.closed_reason, next_attempt_at = null, due_at = null, replay = null,
       lease_token = null, lease_replay = null
     from outbox_lanes l
     where l.id = $1 and l.closed_at is not null and d.due_at is not null
       and (d.lease_token is null or d.due_at <= now() and d.due_at <= to_timestamp($3::float8 / 1000))
       and d.id in (
         select id from outbox_deliveries
         where lane_id = $1 and due_at is not null and (lease_token is null or due_at <= now() and due_at <= to_timestamp($3::float8 / 1000))
         order by id limit $2 for update
       )`,
    [laneId, max, leasesEndedBy],
  )
  return rowCount ?? 0
}

type ReplayRow = {
  id: string
  laneId: string
  messageId: string
  type: string
  isErased: boolean
  isClosed: boolean
  isLeased: boolean
}

export async function lockForReplay(tx: Tx, orgId: string, ids: readonly string[]): Promise<ReplayRow[]> {
  const { rows } = await tx.query<ReplayRow>(
    `select d.id, d.lane_id as "laneId", d.message_id as "messageId", d.type, d.erased_at is not null as "isErased",
       l.closed_at is not null as "isClosed", d.lease_token is not null as "isLeased"
     from outbox_deliveries d join outbox_lanes l on l.id = d.lane_id
     where d.id = any($2::text[]) and d.org_id = $1
     order by d.id for update of d`,
    [orgId, ids],
  )
  return rows
}

/** A replay of a delivery in flight becomes due at its settlement. */
export async function markReplays(tx: Tx, ids: readonly string[], replay: Replay): Promise<void> {
  await tx.query(
    `update outbox_deliveries set
       replay = case when replay = 'with_retries' then replay else $2 end,
       state = case when lease_token is null then 'pending' else state end,
       due_at = case when lease_token is null then now() else due_at end,
       reason = null
     where id = any($1::text[])`,
    [ids, replay],
  )
}

/**
 * Makes deliveries that wait for a retry, or whose retry is due, due one after the other, as replays: their schedules stay. Those that another
 * transaction has locked are being attempted, replayed or ended.
 * @param maxExtra those with so many attempts beside their schedule are left out
 * @returns how many
 */
export async function hastenWaiting(tx: Tx, laneId: string, max: number, maxExtra: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'outbox hasten',
    text: `with waiting as (
        select d.id, d.seq from outbox_deliveries d
        where d.lane_id = $1 and not d.is_first and d.due_at is not null and d.lease_token is null and d.replay is null
          and d.attempts_made - d.attempt < $3
        order by d.seq limit $2 for update skip locked
      ), numbered as (
        select id, row_number() over (order by seq desc) as from_end from waiting
      ), firsts as (
        select min(due_at) as due_at from outbox_deliveries where lane_id = $1 and is_first and due_at <= now()
      )
      update outbox_deliveries d set
        replay = 'once',
        state = 'pending',
        due_at = coalesce(firsts.due_at, now()) - n.from_end * interval '1 microsecond'
      from numbered n, firsts where d.id = n.id`,
    values: [laneId, max, maxExtra],
  })
  return rowCount ?? 0
}

/** Empties the messages about a user. @returns their ids */
export async function eraseMessages(tx: Tx, userId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    'update outbox_messages set body = null, user_id = null where user_id = $1 returning id',
    [userId],
  )
  return rows.map(({ id }) => id)
}

/** Ends the deliveries of erased messages; those in flight are ended by their settlement. */
export async function endErased(tx: Tx, messageIds: readonly string[]): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `with locked as (
       select id from outbox_deliveries where message_id = any($1::text[]) order by id for update
     )
     update outbox_deliveries d set
       erased_at = now(),
       replay = null,
       next_attempt_at = case when d.lease_token is null then null else d.next_attempt_at end,
       due_at = case when d.lease_token is null then null else d.due_at end,
       state = case when d.lease_token is null and d.due_at is not null then 'failed' else d.state end,
       reason = case when d.lease_token is null and d.due_at is not null then 'erased' else d.reason end
     from locked where d.id = locked.id
     returning d.id`,
    [messageIds],
  )
  // A statement of its own sees attempts that were recorded while the one above waited for their deliveries.
  await tx.query(`update outbox_attempts set error_text = null, details = '{}' where delivery_id = any($1::text[])`, [
    rows.map(({ id }) => id),
  ])
}

/** Deletes messages older than so many days, with their deliveries and attempts. @returns number of messages */
export async function deleteMessages(db: Connection, days: number, max: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from outbox_messages where id in (
       select id from outbox_messages where created_at < now() - make_interval(days => $1) order by created_at limit $2
     )`,
    [days, max],
  )
  return rowCount ?? 0
}

/** Deletes lanes that were closed so many days ago and have no deliveries left, with what refers to them. */
export async function deleteClosedLanes(db: Connection, days: number): Promise<void> {
  await db.query(
    `delete from outbox_lanes l where closed_at < now() - make_interval(days => $1)
       and not exists (select from outbox_deliveries d where d.lane_id = l.id)`,
    [days],
  )
}
