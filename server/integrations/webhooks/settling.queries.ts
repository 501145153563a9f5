import type { Tx } from '../../platform/storage/database.ts'
import type { ExhaustedAudited, Health } from './endpoint-health.ts'

/** SQL that writes recorded attempts to their endpoints. */

export type SettlingRow = {
  id: string
  org_id: string
  auto_pause: boolean
  last_status: number | null
  last_attempt_at: Date | null
  last_delivered_at: Date | null
  failing_since: Date | null
  failed_attempts: number
  tls_error: unknown
  tls_audited: unknown
  exhausted_audited: unknown
}

/** Locks endpoints that are not deleted, in order of their ids. */
export async function lockForSettling(tx: Tx, ids: readonly string[]): Promise<SettlingRow[]> {
  const { rows } = await tx.query<SettlingRow>({
    name: 'webhooks lock endpoints',
    text: `select id, org_id, auto_pause, last_status, last_attempt_at, last_delivered_at, failing_since,
        failed_attempts, tls_error, tls_audited, exhausted_audited
      from webhook_endpoints where id = any($1::uuid[]) and deleted_at is null order by id for no key update`,
    values: [ids],
  })
  return rows
}

/** Also of a deleted endpoint. */
export async function lockExhausted(
  tx: Tx,
  endpointId: string,
): Promise<{ org_id: string; exhausted_audited: unknown } | undefined> {
  const { rows } = await tx.query<{ org_id: string; exhausted_audited: unknown }>(
    'select org_id, exhausted_audited from webhook_endpoints where id = $1 for no key update',
    [endpointId],
  )
  return rows[0]
}

export async function writeExhausted(tx: Tx, endpointId: string, audited: ExhaustedAudited): Promise<void> {
  await tx.query('update webhook_endpoints set exhausted_audited = $2 where id = $1', [
    endpointId,
    JSON.stringify(audited),
  ])
}

export async function writeHealth(tx: Tx, changed: readonly (Health & { readonly id: string })[]): Promise<void> {
  await tx.query({
    name: 'webhooks write health',
    text: `update webhook_endpoints e set
        last_status = h.last_status, last_attempt_at = h.last_attempt_at, last_delivered_at = h.last_delivered_at,
        failing_since = h.failing_since, failed_attempts = h.failed_attempts, tls_error = h.tls_error,
        tls_audited = h.tls_audited
      from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::int[],
        $7::jsonb[], $8::jsonb[])
        as h (id, last_status, last_attempt_at, last_delivered_at, failing_since, failed_attempts, tls_error, tls_audited)
      where e.id = h.id`,
    values: [
      changed.map((one) => one.id),
      changed.map((one) => one.lastStatus),
      changed.map((one) => one.lastAttemptAt),
      changed.map((one) => one.lastDeliveredAt),
      changed.map((one) => one.failingSince),
      changed.map((one) => one.failedAttempts),
      changed.map((one) => (one.tlsError === null ? null : JSON.stringify(one.tlsError))),
      changed.map((one) => JSON.stringify(one.tlsAudited)),
    ],
  })
}

export type DayCount = {
  readonly endpointId: string
  readonly day: string
  readonly delivered: number
  readonly failed: number
}

export async function addDays(tx: Tx, counts: readonly DayCount[]): Promise<void> {
  await tx.query({
    name: 'webhooks add days',
    text: `insert into webhook_days (endpoint_id, day, delivered, failed)
      select * from unnest($1::uuid[], $2::date[], $3::int[], $4::int[])
      on conflict (endpoint_id, day) do update set
        delivered = webhook_days.delivered + excluded.delivered, failed = webhook_days.failed + excluded.failed`,
    values: [
      counts.map((one) => one.endpointId),
      counts.map((one) => one.day),
      counts.map((one) => one.delivered),
      counts.map((one) => one.failed),
    ],
  })
}
