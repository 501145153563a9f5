import type { Connection } from '../storage/database.ts'
import type { DeliveryState, Trigger } from './delivery.ts'

/** SQL of the delivery log. */

/** The state, where `retrying` is a failed delivery that has attempts left, and `failed` one that has none. */
export type Status = DeliveryState | 'retrying'

export type DeliveryRow = {
  id: string
  laneId: string
  messageId: string
  type: string
  state: DeliveryState
  /** Attempts of the schedule that have ended. */
  attempt: number
  attemptsMade: number
  nextAttemptAt: Date | null
  /** Asked for and not yet made. */
  isReplayRequested: boolean
  secretVersion: number | null
  /** Status of the newest attempt, with its error and duration. */
  lastStatus: number | null
  lastErrorCode: string | null
  lastDurationMs: number | null
  reason: string | null
  createdAt: Date
  deliveredAt: Date | null
  isErased: boolean
}

const COLUMNS = `d.id, d.lane_id as "laneId", d.message_id as "messageId", d.type, d.state, d.attempt,
  d.attempts_made as "attemptsMade", d.next_attempt_at as "nextAttemptAt", d.replay is not null as "isReplayRequested",
  d.secret_version as "secretVersion", d.last_status as "lastStatus", d.last_error_code as "lastErrorCode",
  d.last_duration_ms as "lastDurationMs", d.reason, d.created_at as "createdAt", d.delivered_at as "deliveredAt",
  d.erased_at is not null as "isErased"`

export type Filter = {
  readonly laneId: string
  /** Null for any. */
  readonly statuses: readonly Status[] | null
  readonly type: string | null
  readonly from: Date | null
  readonly to: Date | null
}

export type Position = { readonly createdAt: Date; readonly id: string }

export type Slice = { readonly limit: number; readonly offset: number; readonly after: Position | null }

const ALL: readonly Status[] = ['pending', 'in_flight', 'retrying', 'delivered', 'failed']

/** Rows of the page in one range of an index: they follow the cursor and lie in the time range. */
const RANGE = `($5::timestamptz is null or d.created_at >= $5) and ($6::timestamptz is null or d.created_at < $6)
  and ($7::timestamptz is null or (d.created_at, d.id) < ($7, $8))`

/** Newest first. A filter reads the newest rows of each status and type, which one index has in this order. */
export async function selectDeliveries(on: Connection, filter: Filter, slice: Slice): Promise<DeliveryRow[]> {
  const { laneId, statuses, type, from, to } = filter
  const isFiltered = statuses !== null || type !== null
  const { rows } = await on.query<DeliveryRow>(
    isFiltered
      ? `with recursive kinds as (
           select s as status, (select min(d.type) from outbox_deliveries d where d.lane_id = $1 and d.status = s) as type
           from unnest($2::text[]) s where $3::text is null
           union all
           select k.status, (select min(d.type) from outbox_deliveries d
             where d.lane_id = $1 and d.status = k.status and d.type > k.type)
           from kinds k where k.type is not null
         ), wanted as (
           select status, type from kinds where type is not null
           union all
           select s, $3 from unnest($2::text[]) s where $3 is not null
         )
         select d.* from wanted w, lateral (
           select ${COLUMNS} from outbox_deliveries d
           where d.lane_id = $1 and d.status = w.status and d.type = w.type and ${RANGE}
           order by d.created_at desc, d.id desc limit $4::int + $9::int
         ) d
         order by d."createdAt" desc, d.id desc limit $4::int offset $9::int`
      : `select ${COLUMNS} from outbox_deliveries d
         where d.lane_id = $1 and $2::text[] is not null and $3::text is null and ${RANGE}
         order by d.created_at desc, d.id desc limit $4::int offset $9::int`,
    [
      laneId,
      statuses ?? ALL,
      type,
      slice.limit,
      from,
      to,
      slice.after?.createdAt ?? null,
      slice.after?.id ?? null,
      slice.offset,
    ],
  )
  return rows
}

/** Number of rows, counted up to `max`. */
export async function countDeliveries(on: Connection, filter: Filter, max: number): Promise<number> {
  const { laneId, statuses, type, from, to } = filter
  const { rows } = await on.query<{ n: number }>(
    `select count(*) as n from (
       select from outbox_deliveries d
       where d.lane_id = $1 and ($2::text[] is null or d.status = any($2)) and ($3::text is null or d.type = $3)
         and ($4::timestamptz is null or d.created_at >= $4) and ($5::timestamptz is null or d.created_at < $5)
       limit $6
     ) capped`,
    [laneId, statuses ?? (type === null ? null : ALL), type, from, to, max],
  )
  return rows[0]?.n ?? 0
}

export type DeliveryDetailRow = DeliveryRow & {
  channel: string
  /** The bytes that are sent; null once erased. */
  body: Buffer | null
}

export async function selectDelivery(
  on: Connection,
  orgId: string,
  id: string,
): Promise<DeliveryDetailRow | undefined> {
  const { rows } = await on.query<DeliveryDetailRow>(
    `select ${COLUMNS}, l.channel, m.body
     from outbox_deliveries d join outbox_lanes l on l.id = d.lane_id join outbox_messages m on m.id = d.message_id
     where d.id = $2 and d.org_id = $1`,
    [orgId, id],
  )
  return rows[0]
}

export type AttemptRow = {
  n: number
  trigger: Trigger
  startedAt: Date
  durationMs: number
  status: number | null
  errorCode: string | null
  errorText: string | null
  details: unknown
}

export async function selectAttempts(on: Connection, deliveryId: string): Promise<AttemptRow[]> {
  const { rows } = await on.query<AttemptRow>(
    `select n, trigger, started_at as "startedAt", duration_ms as "durationMs", status, error_code as "errorCode",
       error_text as "errorText", details
     from outbox_attempts where delivery_id = $1 order by n`,
    [deliveryId],
  )
  return rows
}
