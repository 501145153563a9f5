import { z } from 'zod'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { addJob, defineTask } from '../../platform/jobs/task.ts'
import { utcDay, MINUTE_MS } from '../../platform/kernel/day.ts'
import type { SettledAttempt } from '../../platform/outbox/channel.ts'
import type { Tx } from '../../platform/storage/database.ts'
import {
  afterAttempts,
  afterExhausted,
  ExhaustedAudited,
  type Health,
  isHopeless,
  TlsAudited,
} from './endpoint-health.ts'
import {
  addDays,
  lockExhausted,
  lockForSettling,
  type SettlingRow,
  writeExhausted,
  writeHealth,
} from './settling.queries.ts'
import { TlsError } from './view-endpoint.ts'

/** Name of the job that pauses an endpoint. It locks its lane first, which this transaction must not do. */
export const AUTO_PAUSE_JOB = 'auto-pause-webhook'

/** Name of the job that writes the entry about exhausted deliveries that waited for the next minute. */
export const EXHAUSTED_JOB = 'audit-exhausted-webhooks'

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
    facts.push(...tlsErrors.map((error) => tlsFact(row, error)))
    const exhausted = ofEndpoint.filter(({ isExhausted }) => isExhausted).map(({ delivery }) => delivery.id)
    if (exhausted.length > 0) facts.push(...(await auditExhausted(tx, app, row, exhausted)))
    if (row.auto_pause && health.lastAttemptAt !== null && isHopeless(health, health.lastAttemptAt))
      await addJob(tx, AUTO_PAUSE_JOB, { endpointId: row.id }, { key: `${AUTO_PAUSE_JOB}/${row.id}` })
  }
  await writeHealth(tx, changed)
  await addDays(
    tx,
    rows.flatMap(({ id }) =>
      [...Map.groupBy(byEndpoint.get(id) ?? [], ({ endedAt }) => utcDay(endedAt))].map(([day, ofDay]) => {
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

const tlsFact = ({ id: endpointId, org_id: orgId }: SettlingRow, { code, text, delivery_id }: TlsError): Fact => ({
  kind: 'webhook.tls_error',
  orgId,
  endpointId,
  data: { delivery_id, code, message: text },
})

type Locked = Pick<SettlingRow, 'id' | 'org_id' | 'exhausted_audited'>

/** @returns the fact, unless it has to wait for the next minute; a job records it then */
async function auditExhausted(tx: Tx, app: App, row: Locked, ids: readonly string[]): Promise<Fact[]> {
  const before = ExhaustedAudited.nullable().parse(row.exhausted_audited)
  const { entry, after } = afterExhausted(before, ids, app.clock.now())
  await writeExhausted(tx, row.id, after)
  if (after.count > 0 && (ids.length === 0 || before?.count === 0))
    await addJob(
      tx,
      EXHAUSTED_JOB,
      { endpointId: row.id },
      { key: `${EXHAUSTED_JOB}/${row.id}`, runAt: new Date(Date.now() + MINUTE_MS) },
    )
  if (entry === null) return []
  return [{ kind: 'webhook.delivery.exhausted', orgId: row.org_id, endpointId: row.id, data: entry }]
}

/** Writes the entry about deliveries that waited for the next minute, unless other exhausted ones took them along. */
export async function auditWaiting(app: App, endpointId: string): Promise<void> {
  await app.tx(async (tx) => {
    const row = await lockExhausted(tx, endpointId)
    const waiting = ExhaustedAudited.nullable().parse(row?.exhausted_audited ?? null)
    if (row === undefined || waiting === null || waiting.count === 0) return
    await recordFacts(tx, factContext(app, DELIVERIES), await auditExhausted(tx, app, { id: endpointId, ...row }, []))
  })
}

export const auditExhaustedTask = defineTask({
  name: EXHAUSTED_JOB,
  payload: z.object({ endpointId: z.uuid() }),
  run: (app, { endpointId }) => auditWaiting(app, endpointId),
})
