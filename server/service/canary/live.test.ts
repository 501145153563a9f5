import { expect, test } from 'vitest'
import { aFounder } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'

/** By itself, with all roles: as an operator runs it, only faster. */
const t = await testServer({
  env: { FAULTLINE_CANARY_MINUTES: '60' },
  realTime: true,
  digestion: 'inline',
  deliveries: true,
  canary: { firstMs: 300, tickMs: 20 },
})

test('the test runs by itself, and dashboards of every organisation hear of its state', async () => {
  const leaving = new AbortController()
  const heard = await Promise.all(
    [await aFounder(t.url), await aFounder(t.url)].map(async (owner) => {
      const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const { body } = await fetch(`${t.url}/api/live`, { headers: { cookie }, signal: leaving.signal })
      return body?.pipeThrough(new TextDecoderStream())
    }),
  )
  // It may have arrived before these streams were open.
  await waitFor('the arrival', async () => (await t.app.db.query(`select 1 from canary where state = 'ok'`)).rows[0])
  await t.app.db.query(`update canary set state = 'late', explanation = 'Another process saw it late.'`)
  for (const stream of heard) {
    let text = ''
    for await (const part of stream ?? []) if ((text += part).includes('event: canary')) break
    expect(text).toContain('event: canary\ndata: {"kind":"canary"}')
  }
  leaving.abort()
  const owner = await aFounder(t.url)
  expect((await owner.get('/api/alerts/canary')).body).toMatchObject({ state: 'ok', interval_minutes: 60 })
})
