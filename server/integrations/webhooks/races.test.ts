import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder } from '#test/kit/founder.ts'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { aReceiver, anEndpoint } from './webhooks.fixture.ts'

const t = await testServer({ realTime: true, deliveries: true, env: { FAULTLINE_RETRY_SCALE: '0.00001' } })

const OPERATIONS = [
  'log in',
  'test',
  'pause',
  'resume',
  'rotate',
  'replay',
  'recover',
  'change',
  'delete',
  'read',
] as const
type Operation = (typeof OPERATIONS)[number]

async function perform(owner: Client & { email: string; password: string }, operation: Operation, id: string) {
  const endpoint = `/api/webhooks/${id}`
  switch (operation) {
    case 'log in':
      return owner.post('/api/auth/login', { email: owner.email, password: owner.password })
    case 'test':
      return owner.post(`${endpoint}/test`)
    case 'pause':
      return owner.patch(endpoint, { paused: true })
    case 'resume':
      return owner.patch(endpoint, { paused: false })
    case 'rotate':
      return owner.post(`${endpoint}/rotate-secret`, { overlap_seconds: 60, force: true })
    case 'recover':
      return owner.post(`${endpoint}/recover`, { since: '2020-01-01T00:00:00Z' })
    case 'change':
      return owner.patch(endpoint, {
        ordering: 'strict',
        max_per_second: 1_000,
        headers: [{ name: 'X-A', value: 'a' }],
      })
    case 'delete':
      return owner.delete(endpoint)
    case 'read':
      return owner.get('/api/webhooks')
    case 'replay': {
      const list = (await owner.get(`${endpoint}/deliveries`)).as<{ items?: { id: string }[] }>()
      const ids = (list.items ?? []).map((one) => one.id)
      return ids.length === 0 ? null : owner.post('/api/webhook-deliveries/replay', { ids, retries: true })
    }
  }
}

test(
  'changes, attempts, replays and deletions at the same time neither fail nor leave anything behind',
  { timeout: PROPERTY_TIMEOUT_MS },
  async () => {
    let n = 0
    const receiver = await aReceiver(t, () => (n++ % 3 === 0 ? 200 : 500))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...OPERATIONS), fc.nat(2)), { minLength: 30, maxLength: 60 }),
        async (operations) => {
          const owner = await aFounder(t.url)
          const ids = await Promise.all([0, 1, 2].map(async () => (await anEndpoint(owner, receiver.url)).id))
          for (let from = 0; from < operations.length; from += 10) {
            const answers = await Promise.all(
              operations
                .slice(from, from + 10)
                .map(
                  async ([operation, index]) => [operation, await perform(owner, operation, ids[index] ?? '')] as const,
                ),
            )
            for (const [operation, answer] of answers)
              expect([200, 202, 204, 404, 409], `${operation}: ${answer?.text}`).toContain(answer?.status ?? 200)
          }
          for (const id of ids) await owner.patch(`/api/webhooks/${id}`, { paused: false })
          await waitFor('the end of every delivery', async () => {
            const { rows } = await t.app.db.query<{ n: number }>(
              'select count(*)::int as n from outbox_deliveries where lane_id = any($1::uuid[]) and due_at is not null',
              [ids],
            )
            return rows[0]?.n === 0
          })
        },
      ),
      { numRuns: cases(3, 50) },
    )
    expect(t.logLines.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([])
  },
)
