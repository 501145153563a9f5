import { systemActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { factContext } from '../context/fact-context.ts'
import type { Fact } from '../facts/kinds.ts'
import { recordFacts } from '../facts/record-facts.ts'
import { addJob } from '../jobs/task.ts'
import { dayOf } from '../kernel/day.ts'
import type { SettledAttempt } from '../outbox/channel.ts'
import type { Tx } from '../storage/database.ts'
import { afterAttempts, type Health, isHopeless, TlsAudited } from './endpoint-health.ts'
import { addDays, lockForSettling, type SettlingRow, writeHealth } from './settling.queries.ts'
import { TlsError } from './view-endpoint.ts'

/** Name of the job that pauses an endpoint. It locks its lane first, which this transaction must not do. */
export const AUTO_PAUSE_JOB = 'auto-pause-webhook'

/** A fact names at most so many deliveries. */
const MAX_NAMED = 100

const DELIVERIES = systemActor('deliveries')

/** Updates each endpoint of the attempts once: newest status, counts, errors of TLS; records what is to be audited. */
export async function settleWebhooks(tx: Tx, app: App, attempts: readonly SettledAttempt[]): Promise<void> {
  const byEndpoint = Map.groupBy(attempts, ({ delivery }) => delivery.laneId)
  const rows = await lockForSettling(tx, [...byEndpoint.keys()])
  if (rows.length === 0) return
  const facts: Fact[] = []
  const changed: (Health & { id: string })[] = []
  for (const row of rows) {
    const ofEndpoint = byEndpoint.get(row.id) ?? []
    const { health, tlsErrors } = afterAttempts(healthOf(row), ofEndpoint)
    changed.push({ ...health, id: row.id })
    facts.push(...factsOf(row, ofEndpoint, tlsErrors))
    if (row.auto_pause && health.lastAttemptAt !== null && isHopeless(health, health.lastAttemptAt))
      await addJob(tx, AUTO_PAUSE_JOB, { endpointId: row.id }, { key: `${AUTO_PAUSE_JOB}/${row.id}` })
  }
  await writeHealth(tx, changed)
  await addDays(
    tx,
    rows.flatMap(({ id }) =>
      [...Map.groupBy(byEndpoint.get(id) ?? [], ({ endedAt }) => dayOf(endedAt))].map(([day, ofDay]) => {
        const delivered = ofDay.filter(({ result }) => result.outcome === 'delivered').length
        return { endpointId: id, day, delivered, failed: ofDay.length - delivered }
      }),
    ),
  )
  await recordFacts(tx, factContext(app, DELIVERIES), facts)
}

const healthOf = (row: SettlingRow): Health => ({
  lastStatus: row.last_status,
  lastAttemptAt: row.last_attempt_at,
  lastDeliveredAt: row.last_delivered_at,
  failingSince: row.failing_since,
  failedAttempts: row.failed_attempts,
  tlsError: row.tls_error === null ? null : TlsError.parse(row.tls_error),
  tlsAudited: TlsAudited.parse(row.tls_audited),
})

function factsOf(
  { id: endpointId, org_id: orgId }: SettlingRow,
  attempts: readonly SettledAttempt[],
  tlsErrors: readonly TlsError[],
): Fact[] {
  const exhausted = attempts.filter(({ isExhausted }) => isExhausted).map(({ delivery }) => delivery.id)
  return [
    ...tlsErrors.map(({ code, text, delivery_id }): Fact => ({
      kind: 'webhook.tls_error',
      orgId,
      endpointId,
      data: { delivery_id, code, message: text },
    })),
    ...(exhausted.length === 0
      ? []
      : [
          {
            kind: 'webhook.delivery.exhausted',
            orgId,
            endpointId,
            data: { count: exhausted.length, delivery_ids: exhausted.slice(0, MAX_NAMED) },
          } satisfies Fact,
        ]),
  ]
}
