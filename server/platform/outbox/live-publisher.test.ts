import { expect, test } from 'vitest'
import { z } from 'zod'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../kernel/ids.ts'
import { LIVE_TOPIC } from '../live/publish.ts'
import { testChannel } from './engine.fixture.ts'
import { createLivePublisher } from './start-deliverer.ts'

const { app } = await testApp()

test('changes of an organisation are published at once, then together, at most once a second', async () => {
  const received: { orgId: unknown; message: unknown; atMs: number }[] = []
  app.bus.on(LIVE_TOPIC, (payload) => {
    const [orgId, message] = z.tuple([z.string(), z.unknown()]).parse(payload)
    received.push({ orgId, message, atMs: performance.now() })
  })
  const live = createLivePublisher(app)
  const channel = testChannel(undefined, { live: (laneIds) => ({ kind: 'webhooks', endpoint_ids: [...laneIds] }) })
  const of = (orgId: string) => received.filter((one) => one.orgId === orgId)
  live.changed(testChannel(), 'org-1', newId())
  live.changed(channel, 'org-1', 'a')
  await waitFor('the first', () => of('org-1').length === 1)
  for (const laneId of ['b', 'c', 'b']) live.changed(channel, 'org-1', laneId)
  live.changed(channel, 'org-2', 'd')
  await waitFor('the other organisation', () => of('org-2').length === 1)
  expect(of('org-1')).toHaveLength(1)
  await waitFor('the second', () => of('org-1').length === 2)
  expect(of('org-1').map(({ message }) => message)).toEqual([
    { kind: 'webhooks', endpoint_ids: ['a'] },
    { kind: 'webhooks', endpoint_ids: ['b', 'c'] },
  ])
  const [first, second] = of('org-1')
  // Timers may be a moment early, and messages late.
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(900)
  live.close()
})
