import { expect, onTestFinished, test } from 'vitest'
import { startDatabaseProxy } from '#test/kit/database-proxy.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { createApp } from '../../service/app.ts'
import type { AttemptResult } from './channel.ts'
import { aWorker, result, testChannel } from './engine.fixture.ts'
import { aLane, anOrg, someDeliveries } from './outbox.fixture.ts'
import { readDelivery } from './read-delivery.ts'
import { startDeliverer } from './start-deliverer.ts'

const t = await testApp()
const { app } = t
const orgId = await anOrg(app)

test('results that end while the database is away are recorded when it is back, and the worker continues', async () => {
  const proxy = await startDatabaseProxy(t.connectionString)
  const { clock, log, mail, passwords } = app
  const away = await createApp(app.config, proxy.connectionString, 3, 'away', { clock, log, mail, passwords })
  t.onClose(async () => {
    await away.close()
    await proxy.close()
  })
  const ends: ((outcome: AttemptResult['outcome']) => void)[] = []
  const channel = testChannel(
    () =>
      new Promise((resolve) => {
        ends.push((outcome) => resolve(result(outcome)))
      }),
  )
  aWorker(away, channel)
  const laneId = await aLane(app, orgId)
  const ids = await someDeliveries(app, orgId, laneId, 2)
  await waitFor('both in flight', () => ends.length === 2)
  proxy.setFaults({ reset: true })
  ends[0]?.('delivered')
  ends[1]?.('failed')
  await waitFor('the worker to notice', () =>
    t.logLines.some(({ msg }) => msg === 'recording attempts waits for the database'),
  )
  // Committed during the outage: the worker finds it without having been woken.
  const [later = ''] = await someDeliveries(app, orgId, laneId, 1)
  proxy.setFaults({})
  const states = async () =>
    (await Promise.all(ids.map((id) => readDelivery(app.db, orgId, id)))).map((one) => one?.state)
  await waitFor(
    'both results',
    async () => new Set(await states()).symmetricDifference(new Set(['delivered', 'failed'])).size === 0,
  )
  await waitFor('the later one', () => ends.length === 3)
  ends[2]?.('delivered')
  await waitFor('its result', async () => (await readDelivery(app.db, orgId, later))?.state === 'delivered')
  expect(channel.sent).toHaveLength(3)
})

test('after an outage longer than a lease, each worker records what it sent before others take it over', async () => {
  const proxy = await startDatabaseProxy(t.connectionString)
  const { clock, log, mail, passwords } = app
  const ends: (() => void)[] = []
  const channel = testChannel(
    () =>
      new Promise((resolve) => {
        ends.push(() => resolve(result('delivered')))
      }),
    { name: 'two', timeoutMs: 1_500 },
  )
  const laneId = await aLane(app, orgId, { channel: channel.name })
  for (const name of ['one', 'other']) {
    const worker = await createApp(app.config, proxy.connectionString, 3, name, { clock, log, mail, passwords })
    const deliverer = startDeliverer(worker, [channel], { leaseMs: 1_800 })
    onTestFinished(async () => {
      await deliverer.stop(2_000)
      await worker.close()
    })
  }
  onTestFinished(() => proxy.close())
  const ids: string[] = []
  // One after the other, so that both workers have some.
  for (let count = 1; count <= 8; count++) {
    ids.push(...(await someDeliveries(app, orgId, laneId, 1)))
    await waitFor('it in flight', () => ends.length === count)
  }
  proxy.setFaults({ reset: true })
  for (const end of ends) end()
  await waitFor('the end of their leases', async () => {
    const { rows } = await app.db.query<{ ended: boolean }>(
      'select bool_and(due_at < now()) as ended from outbox_deliveries where lane_id = $1',
      [laneId],
    )
    return rows[0]?.ended === true
  })
  proxy.setFaults({})
  for (const id of ids)
    await waitFor('each', async () => (await readDelivery(app.db, orgId, id))?.state === 'delivered')
  expect(channel.sent).toHaveLength(8)
})
