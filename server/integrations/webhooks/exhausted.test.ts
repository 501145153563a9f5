import { expect, test } from 'vitest'
import { ENDPOINT } from '#test/kit/endpoint-input.ts'
import { aPerson } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { listAuditLog } from '../../history/audit/list-audit-log.ts'
import type { SettledAttempt } from '../../platform/outbox/channel.ts'
import { createEndpoint } from './create-endpoint.ts'
import { auditWaiting, settleWebhooks } from './settle-webhooks.ts'

const t = await testApp()
const { app } = t

test('exhausted deliveries are one entry per endpoint and minute, and none is lost', async () => {
  const ada = await aPerson(app)
  const { id: laneId } = await createEndpoint(app, ada.actor, {
    url: 'https://receiver.example/',
    ...ENDPOINT,
  })
  const exhausted = (id: string): SettledAttempt => ({
    delivery: {
      id,
      laneId,
      orgId: ada.actor.orgId,
      messageId: 'm',
      type: 't',
      body: Buffer.alloc(0),
      secretVersion: 1,
      trigger: 'schedule',
      n: 6,
    },
    result: { outcome: 'failed', status: 500, errorCode: null, errorText: null, durationMs: 1, details: {} },
    startedAt: app.clock.now(),
    endedAt: app.clock.now(),
    isExhausted: true,
  })
  const settle = (...ids: string[]) => app.tx((tx) => settleWebhooks(tx, app, ids.map(exhausted)))
  const entries = async () =>
    (await listAuditLog(app, ada.actor, { action: 'webhook.delivery.exhausted', limit: 10, offset: 0 })).items.map(
      ({ meta }) => [meta['count'], meta['delivery_ids']],
    )
  await settle('d_1', 'd_2')
  for (const id of ['d_3', 'd_4', 'd_5']) await settle(id)
  await auditWaiting(app, laneId)
  const first = [2, ['d_1', 'd_2']]
  expect(await entries()).toEqual([first])
  t.clock.advance(60_000)
  await settle('d_6')
  const second = [4, ['d_3', 'd_4', 'd_5', 'd_6']]
  expect(await entries()).toEqual([second, first])
  await settle('d_7')
  t.clock.advance(60_000)
  // The job of the waiting one; again, it has nothing to write.
  for (let n = 0; n < 2; n++) await auditWaiting(app, laneId)
  expect(await entries()).toEqual([[1, ['d_7']], second, first])
  const { rows } = await app.db.query(
    `select from graphile_worker.jobs where task_identifier = 'audit-exhausted-webhooks'`,
  )
  expect(rows.length).toBeGreaterThan(0)
})
