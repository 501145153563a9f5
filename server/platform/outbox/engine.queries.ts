import { CANARY_ORG_ID } from '../kernel/ids.ts'
import type { Connection, Tx } from '../storage/database.ts'
import type { Decision } from './decide-next.ts'
import type { Replay } from './delivery.ts'

/**
 * SQL of the workers. A claim locks the rows of its lanes, so that two claims never exceed the bounds of one; it skips what
 * others have locked. Settling, replays and erasures lock deliveries in the order of their ids.
 */

/** The lanes that have something to send, now or later: hops over an index, whatever the number of deliveries. */
const OPEN_LANES = `open_lanes as (
    (select lane_id from outbox_deliveries where due_at is not null order by lane_id limit 1)
    union all
    select (select d.lane_id from outbox_deliveries d
      where d.due_at is not null and d.lane_id > o.lane_id order by d.lane_id limit 1)
    from open_lanes o where o.lane_id is not null
  ), earliest as materialized (
    select o.lane_id,
      (select d.due_at from outbox_deliveries d where d.lane_id = o.lane_id and d.is_first and d.due_at is not null
        order by d.due_at limit 1) as first_due_at,
      (select d.due_at from outbox_deliveries d where d.lane_id = o.lane_id and not d.is_first and d.due_at is not null
        order by d.due_at limit 1) as other_due_at
    from open_lanes o where o.lane_id is not null
  )`

/**
 * The bound of first attempts: `burst` at once, then one per `interval`, so that no second has more than max_per_second
 * (the generic cell rate algorithm). A lane's `rate_used_until` is its theoretical arrival time.
 */
const BURST = 'greatest(1, l.max_per_second / 10)'
const INTERVAL = `(interval '1 second' / (l.max_per_second - ${BURST} + 1))`
const RATE_FREE_AT = `(l.rate_used_until - ${INTERVAL} * (${BURST} - 1))`

export type Due = {
  /** Until something is due on an open lane; null when there is nothing. */
  waitMs: number | null
  /** The clock of the database. */
  databaseMs: number | null
  /** Paused lanes with leases whose workers ended. */
  abandonedLaneIds: string[]
  /** Closed lanes with deliveries that have not ended. */
  closedLaneIds: string[]
}

/** Whether the lease of a delivery has ended. @param parameter see `ClaimRequest.leasesEndedBy` */
const leaseEnded = (parameter: string): string =>
  `d.due_at <= now() and d.due_at <= to_timestamp(${parameter}::float8 / 1000)`

/**
 * Selects the work to do. Costs some index look-ups per lane with open deliveries, and almost nothing without any.
 * @param leasesEndedBy as in {@link ClaimRequest}
 */
export async function selectDue(on: Connection, channels: readonly string[], leasesEndedBy: number): Promise<Due> {
  const { rows } = await on.query<Due>({
    name: 'outbox due',
    text: `with recursive ${OPEN_LANES}
      select extract(epoch from min(least(
          case when l.max_per_second is null then e.first_due_at
            when e.first_due_at is not null then greatest(e.first_due_at, ${RATE_FREE_AT}) end,
          e.other_due_at
        )) filter (where l.closed_at is null and l.paused_at is null) - now())::float8 * 1000 as "waitMs",
        extract(epoch from now())::float8 * 1000 as "databaseMs",
        coalesce(array_agg(l.id) filter (where l.closed_at is null and l.paused_at is not null), '{}') as "abandonedLaneIds",
        coalesce(array_agg(l.id) filter (where l.closed_at is not null), '{}') as "closedLaneIds"
      from earliest e join outbox_lanes l on l.id = e.lane_id
      where l.closed_at is not null or l.channel = any($1::text[]) and (l.paused_at is null or exists (
        select from outbox_deliveries d where d.lane_id = l.id and d.lease_token is not null and ${leaseEnded('$2')}))`,
    values: [channels, leasesEndedBy],
  })
  return rows[0] ?? { waitMs: null, databaseMs: null, abandonedLaneIds: [], closedLaneIds: [] }
}

export type ClaimRequest = {
  readonly token: string
  readonly leaseMs: number
  readonly channels: readonly string[]
  /** Places of the process; and with its reserve, for lanes with fewer than 2 in flight. */
  readonly free: number
  readonly freeWithReserve: number
  /** In flight here, by organisation, and what each may have at most beyond the reserve. */
  readonly orgs: ReadonlyMap<string, number>
  readonly maxPerOrg: number
  readonly maxRows: number
  /**
   * Leases that ended by this time of the database, and by its `now()`, are abandoned. In milliseconds of the epoch:
   * -Infinity for none, Infinity for those that `now()` alone ends.
   */
  readonly leasesEndedBy: number
}

export type ClaimedRow = {
  id: string
  laneId: string
  orgId: string
  channel: string
  messageId: string
  type: string
  secretVersion: number | null
  isReplay: boolean
  attemptsMade: number
  /** Null when the message was erased while another worker had the delivery. */
  body: Buffer | null
}

/** Leases what is due, in one statement: under the bounds of lanes, organisations and the process, fairly among lanes. */
export async function claimDeliveries(on: Connection, request: ClaimRequest): Promise<ClaimedRow[]> {
  const dueNow = `d.due_at <= now() and (d.lease_token is null or ${leaseEnded('$10')})`
  const { rows } = await on.query<ClaimedRow>({
    name: 'outbox claim',
    text: `with recursive ${OPEN_LANES}, lanes as (
        select l.id, l.org_id, l.is_strict, l.max_in_flight, l.max_per_second,
          case when l.max_per_second is null then $8::int
            else floor(extract(epoch from
              now() + ${INTERVAL} * ${BURST} - greatest(least(l.rate_used_until, now() + ${INTERVAL} * ${BURST}), now())
            ) / extract(epoch from ${INTERVAL}))::int
          end as first_allowed
        from earliest e join outbox_lanes l on l.id = e.lane_id
        where (e.first_due_at <= now() or e.other_due_at <= now())
          and l.paused_at is null and l.closed_at is null and l.channel = any($3::text[])
        order by random() limit 1000
        for no key update of l skip locked
      ), slots as materialized (
        select l.*, (
            select count(*) from outbox_deliveries d
            where d.lane_id = l.id and d.lease_token is not null and not (${leaseEnded('$10')})
          ) as in_flight,
          case when l.is_strict then (
            select d.id from outbox_deliveries d
            where d.lane_id = l.id and d.next_attempt_at is not null order by d.seq limit 1
          ) end as next_id,
          greatest(2, 2 * $8::int / (select count(*) from lanes)) as share
        from lanes l
      ), candidates as materialized (
        select c.id, c.due_at, s.org_id, s.in_flight, row_number() over (partition by s.id order by c.due_at, c.id) as n,
          s.max_in_flight
        from slots s, lateral (
          (select d.id, d.due_at from outbox_deliveries d
            where not s.is_strict and d.lane_id = s.id and d.is_first and ${dueNow}
            order by d.due_at limit greatest(0, least(s.share, s.max_in_flight - s.in_flight, s.first_allowed)))
          union all
          (select d.id, d.due_at from outbox_deliveries d
            where not s.is_strict and d.lane_id = s.id and not d.is_first and ${dueNow}
            order by d.due_at limit greatest(0, least(s.share, s.max_in_flight - s.in_flight)))
          union all
          (select d.id, d.due_at from outbox_deliveries d
            where d.id = s.next_id and ${dueNow} and (not d.is_first or s.first_allowed > 0))
          union all
          (select d.id, d.due_at from outbox_deliveries d
            where s.is_strict and d.lane_id = s.id and not d.is_first and d.replay is not null and d.lease_token is null
              and d.due_at <= now() and d.id is distinct from s.next_id
            order by d.due_at limit greatest(0, least(s.share, s.max_in_flight - s.in_flight)))
          union all
          -- Abandoned leases: replays, and what was in flight before the lane became strict.
          (select d.id, d.due_at from outbox_deliveries d
            where s.is_strict and d.lane_id = s.id and d.lease_token is not null and ${dueNow}
              and d.id is distinct from s.next_id)
        ) c
      ), ranked as (
        select c.*, c.in_flight + c.n <= 2 as is_small,
          row_number() over (partition by c.org_id order by c.in_flight + c.n > 2, c.n, c.due_at) as org_n
        from candidates c where c.in_flight + c.n <= c.max_in_flight
      ), chosen as (
        select r.id, r.is_small, row_number() over (order by r.is_small desc, r.n, r.due_at) as n
        from ranked r left join unnest($6::uuid[], $7::int[]) as o (org_id, in_flight) using (org_id)
        where r.is_small or r.org_n + coalesce(o.in_flight, 0) <= $9::int
      ), locked as (
        select d.id from outbox_deliveries d
        where d.id in (
            select c.id from chosen c
            where c.n <= case when c.is_small then $5::int else $4::int end order by c.n limit $8::int
          ) and ${dueNow}
        for update skip locked
      ), claimed as (
        update outbox_deliveries d set
          state = 'in_flight',
          lease_token = $1::uuid,
          due_at = now() + make_interval(secs => $2::float8),
          -- An abandoned lease is repeated as it was.
          lease_replay = case when d.lease_token is null then d.replay else d.lease_replay end,
          replay = case when d.lease_token is null then null else d.replay end
        from locked where d.id = locked.id
        returning d.id, d.lane_id, d.org_id, d.message_id, d.type, d.secret_version, d.is_first, d.attempts_made,
          d.lease_replay is not null as is_replay
      ), rated as (
        update outbox_lanes l
        set rate_used_until = greatest(least(l.rate_used_until, now() + ${INTERVAL} * ${BURST}), now()) + ${INTERVAL} * f.n
        from (select lane_id, count(*) as n from claimed where is_first group by lane_id) f
        where l.id = f.lane_id and l.max_per_second is not null
      )
      select c.id, c.lane_id as "laneId", c.org_id as "orgId", l.channel, c.message_id as "messageId", c.type,
        c.secret_version as "secretVersion", c.is_replay as "isReplay", c.attempts_made as "attemptsMade", m.body
      from claimed c join outbox_lanes l on l.id = c.lane_id join outbox_messages m on m.id = c.message_id
      order by c.id`,
    values: [
      request.token,
      request.leaseMs / 1000,
      request.channels,
      request.free,
      request.freeWithReserve,
      [...request.orgs.keys()],
      [...request.orgs.values()],
      request.maxRows,
      request.maxPerOrg,
      request.leasesEndedBy,
    ],
  })
  return rows
}

/** A delivery that a worker has, with the token of its lease. */
export type Lease = { readonly id: string; readonly token: string }

export type LeasedRow = {
  id: string
  token: string
  attempt: number
  attemptsMade: number
  isScheduled: boolean
  leaseReplay: Replay | null
  replay: Replay | null
  endReason: string | null
  isErased: boolean
}

/** Locks the deliveries whose lease is still the worker's; others are missing. */
export async function lockLeased(tx: Tx, leases: readonly Lease[]): Promise<LeasedRow[]> {
  const { rows } = await tx.query<LeasedRow>({
    name: 'outbox lock leased',
    text: `select d.id, mine.token, d.attempt, d.attempts_made as "attemptsMade", d.next_attempt_at is not null as "isScheduled",
        d.lease_replay as "leaseReplay", d.replay, d.erased_at is not null as "isErased",
        case when d.erased_at is not null then 'erased' when l.closed_at is not null then l.closed_reason end as "endReason"
      from unnest($1::text[], $2::uuid[]) as mine (id, token)
      join outbox_deliveries d on d.id = mine.id and d.lease_token = mine.token
      join outbox_lanes l on l.id = d.lane_id
      order by d.id for update of d`,
    values: [leases.map(({ id }) => id), leases.map(({ token }) => token)],
  })
  return rows
}

type SettledRow = {
  readonly id: string
  readonly n: number
  readonly decision: Decision
  /** Scaled. */
  readonly delayMs: number | null
  /** Since the end of the attempt. */
  readonly elapsedMs: number
  readonly durationMs: number
  readonly isDelivered: boolean
  readonly status: number | null
  readonly errorCode: string | null
  readonly errorText: string | null
  readonly details: string
}

/** Records attempts of locked deliveries and what follows. @returns the times of each attempt, on the database's clock */
export async function writeSettled(
  tx: Tx,
  rows: readonly SettledRow[],
): Promise<{ id: string; startedAt: Date; endedAt: Date }[]> {
  const { rows: times } = await tx.query<{ id: string; startedAt: Date; endedAt: Date }>({
    name: 'outbox settle',
    text: `with ended as (
        select s.*, now() - make_interval(secs => s.elapsed) as ended_at
        from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::float8[], $6::text[], $7::text[], $8::float8[],
          $9::float8[], $10::boolean[], $11::int[], $12::text[], $13::text[], $14::jsonb[], $15::text[], $16::int[]) as s
          (id, state, attempt, schedule, delay, replay, reason, elapsed, duration, is_delivered, status, error_code,
            error_text, details, trigger, n)
      ), updated as (
        update outbox_deliveries d set
          state = s.state,
          attempt = s.attempt,
          attempts_made = s.n,
          next_attempt_at = case s.schedule when 'stays' then d.next_attempt_at
            when 'delay' then s.ended_at + make_interval(secs => s.delay) end,
          due_at = case when s.replay is not null then now()
            when s.schedule = 'stays' then d.next_attempt_at
            when s.schedule = 'delay' then s.ended_at + make_interval(secs => s.delay) end,
          lease_token = null,
          lease_replay = null,
          replay = s.replay,
          reason = s.reason,
          last_status = s.status,
          last_error_code = s.error_code,
          last_duration_ms = round(s.duration * 1000),
          delivered_at = case when s.is_delivered then coalesce(d.delivered_at, s.ended_at) else d.delivered_at end
        from ended s where d.id = s.id
      ), written as (
        insert into outbox_attempts
          (delivery_id, n, trigger, started_at, duration_ms, status, error_code, error_text, details)
        select id, n, trigger, ended_at - make_interval(secs => duration), round(duration * 1000), status, error_code,
          error_text, details
        from ended
      )
      select id, ended_at - make_interval(secs => duration) as "startedAt", ended_at as "endedAt" from ended`,
    values: [
      rows.map(({ id }) => id),
      rows.map(({ decision }) => decision.state),
      rows.map(({ decision }) => decision.attempt),
      rows.map(({ decision: { schedule } }) => (typeof schedule === 'string' ? schedule : 'delay')),
      rows.map(({ delayMs }) => (delayMs === null ? null : delayMs / 1000)),
      rows.map(({ decision }) => decision.replay),
      rows.map(({ decision }) => decision.reason),
      rows.map(({ elapsedMs }) => elapsedMs / 1000),
      rows.map(({ durationMs }) => durationMs / 1000),
      rows.map(({ isDelivered }) => isDelivered),
      rows.map(({ status }) => status),
      rows.map(({ errorCode }) => errorCode),
      rows.map(({ errorText }) => errorText),
      rows.map(({ details }) => details),
      rows.map(({ decision }) => decision.trigger),
      rows.map(({ n }) => n),
    ],
  })
  return times
}

/** A leased delivery as before its attempt. */
const GIVEN_BACK = `
  lease_token = null,
  lease_replay = null,
  replay = case when 'with_retries' in (d.replay, d.lease_replay) then 'with_retries' else coalesce(d.replay, d.lease_replay) end,
  state = case when d.attempts_made = 0 or coalesce(d.replay, d.lease_replay) is not null then 'pending' else 'failed' end`

/**
 * Gives leases back: their attempts were not made, or not finished, and count as not made.
 * @param delayMs until they are due again
 */
export async function giveBackLeases(on: Connection, leases: readonly Lease[], delayMs: number): Promise<void> {
  await on.query(
    `with mine as (
       select d.id from unnest($1::text[], $2::uuid[]) as m (id, token)
       join outbox_deliveries d on d.id = m.id and d.lease_token = m.token
       order by d.id for update of d
     )
     update outbox_deliveries d set ${GIVEN_BACK}, due_at = now() + make_interval(secs => $3::float8)
     from mine where d.id = mine.id`,
    [leases.map(({ id }) => id), leases.map(({ token }) => token), delayMs / 1000],
  )
}

/**
 * Gives lanes back their share of max_per_second, for first attempts that were claimed and not made.
 * @param laneIds one for each attempt
 */
export async function giveBackRates(on: Connection, laneIds: readonly string[]): Promise<void> {
  if (laneIds.length === 0) return
  await on.query(
    `with unused as (
       select l.id, f.n from (select id, count(*) as n from unnest($1::uuid[]) as one (id) group by id) f
       join outbox_lanes l on l.id = f.id
       where l.max_per_second is not null order by l.id for no key update of l
     )
     update outbox_lanes l set rate_used_until = l.rate_used_until - ${INTERVAL} * unused.n
     from unused where l.id = unused.id`,
    [laneIds],
  )
}

/**
 * Ends the abandoned leases of a paused lane, which no claim takes: their attempts are made when it continues.
 * @param leasesEndedBy as in {@link ClaimRequest}
 */
export async function endAbandoned(on: Connection, laneId: string, leasesEndedBy: number): Promise<void> {
  await on.query(
    `with abandoned as (
       select d.id from outbox_deliveries d
       where d.lane_id = $1 and d.lease_token is not null and ${leaseEnded('$2')}
       order by d.id for update of d skip locked
     )
     update outbox_deliveries d set ${GIVEN_BACK}, due_at = now()
     from abandoned where d.id = abandoned.id`,
    [laneId, leasesEndedBy],
  )
}

/** The age of the oldest delivery that is due on an open lane, but for the canary's; 0 when there is none. */
export async function oldestDueMs(on: Connection): Promise<number> {
  const { rows } = await on.query<{ ms: number | null }>(
    `with recursive ${OPEN_LANES}
     select extract(epoch from now() - min(least(e.first_due_at, e.other_due_at)))::float8 * 1000 as ms
     from earliest e join outbox_lanes l on l.id = e.lane_id
     where l.paused_at is null and l.closed_at is null and l.org_id <> '${CANARY_ORG_ID}'`,
  )
  return Math.max(0, rows[0]?.ms ?? 0)
}
