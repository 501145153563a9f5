import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { flushDenials } from '../../history/audit/denials.ts'
import { listAuditLog } from '../../history/audit/list-audit-log.ts'

// Six calls per minute and address.
const t = await testServer({ env: { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_SCALE: '0.01' } })

test('calls beyond the limit of the API are an entry of their member, counted once per address and minute', async () => {
  const bob = await aPerson(t.app)
  const call = async (ip: string, cookie = bob.cookie) =>
    (await fetch(`${t.url}/api/me`, { headers: { cookie, 'x-forwarded-for': ip } })).status
  const statuses = await Promise.all(Array.from({ length: 12 }, () => call('198.51.100.7')))
  expect(statuses.filter((status) => status === 429)).toHaveLength(6)
  for (let n = 0; n < 8; n++) await call('198.51.100.8', '')
  const entries = await waitFor('the entry', async () => {
    await flushDenials(t.app)
    const { items } = await listAuditLog(t.app, bob.actor, { limit: 10, offset: 0 })
    return items.length > 0 && items
  })
  expect(entries).toMatchObject([
    {
      action: 'ratelimit.exceeded',
      actor: { email: bob.email, role: 'owner' },
      target: { type: 'limit', label: 'api' },
      ip: '198.51.100.7',
      session_id: bob.actor.sessionId,
      meta: { count: 1, limits: ['api'] },
    },
  ])
})
