import { expect, test } from 'vitest'
import { aFounder } from '#test/kit/founder.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { testServer } from '#test/kit/test-server.ts'
import { forbiddenNames, refusedEarly, refusedLate } from '../../platform/egress/forbidden-targets.fixture.ts'
import { MAX_ENDPOINTS_PER_APPLICATION } from './webhooks.api.ts'
import { anEndpoint, attempted, testDelivery } from './webhooks.fixture.ts'

const { resolveName } = forbiddenNames()
const t = await testServer({
  realTime: true,
  deliveries: true,
  // As in strict mode.
  egress: { loopbackOpen: false, resolveName },
})
const canaries = [await startReceiver(), await startReceiver({ host: '::1' })] as const
t.onClose(async () => {
  for (const canary of canaries) await canary.close()
})
const ports = [canaries[0].port, canaries[1].port] as const
const hits = () => canaries[0].connections() + canaries[1].connections()

test('no delivery reaches the inside of the installation, whether its URL was refused at the registration or not', async () => {
  const early = refusedEarly(...ports)
  const late = refusedLate(...ports)
  const urls = [...early.map((url) => ({ url, isLate: false })), ...late.map((url) => ({ url, isLate: true }))]
  for (let from = 0; from < urls.length; from += MAX_ENDPOINTS_PER_APPLICATION) {
    const owner = await aFounder(t.url)
    await Promise.all(
      urls.slice(from, from + MAX_ENDPOINTS_PER_APPLICATION).map(async ({ url, isLate }) => {
        const answer = await owner.post('/api/webhooks', { url })
        expect([url, answer.status]).toEqual([url, isLate ? 201 : 400])
        // PostgreSQL cannot store it.
        if (url.includes('\0')) return
        const { id } = isLate ? answer.as<{ id: string }>() : await anEndpoint(owner, 'https://hooks.example.com')
        // As if an earlier version, or another setting, had let it pass.
        if (!isLate) await t.app.db.updateTable('webhook_endpoints').set({ url }).where('id', '=', id).execute()
        const one = await attempted(owner, await testDelivery(owner, id), 1)
        expect(one).toMatchObject({
          state: 'failed',
          last_status: null,
          last_error_code: isLate ? 'EGRESS_ADDRESS' : 'EGRESS_URL',
        })
      }),
    )
  }
  expect(hits()).toBe(0)
})
