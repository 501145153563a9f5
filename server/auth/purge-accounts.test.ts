import { expect, test } from 'vitest'
import { aCaller, aPerson } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { LIMITS, takeAttempt } from './attempts.ts'
import { isKnownNetwork } from './known-network.ts'
import { purgeAccounts } from './purge-accounts.ts'
import { refreshSession } from './refresh-session.ts'

const t = await testApp()
const DAY_MS = 86_400_000

test('keeps active counters and sessions of known networks, deletes the rest', async () => {
  const person = await aPerson(t.app, { caller: aCaller({ ip: '192.0.2.10' }) })
  const { userId, sessionId } = person.actor
  await takeAttempt(t.app, LIMITS.signUp, 'old', '192.0.2.1')
  t.clock.advance(DAY_MS)
  await takeAttempt(t.app, LIMITS.signUp, 'new', '192.0.2.1')
  t.clock.advance(1000)
  await purgeAccounts(t.app)
  const counters = await t.app.db.selectFrom('attempt_counters').select('key').execute()
  expect(counters).toEqual([{ key: 'new' }])

  const { refreshToken } = await refreshSession(t.app, person.tokens.refreshToken, aCaller({ ip: '198.51.100.1' }))
  t.clock.advance(89 * DAY_MS)
  await purgeAccounts(t.app)
  expect(await isKnownNetwork(t.app, userId, '198.51.100.200')).toBe(true)
  expect(await isKnownNetwork(t.app, userId, '192.0.2.10')).toBe(false)
  await expect(refreshSession(t.app, refreshToken, aCaller())).rejects.toMatchObject({ code: 'unauthenticated' })

  t.clock.advance(2 * DAY_MS)
  await purgeAccounts(t.app)
  expect(await t.app.db.selectFrom('sessions').select('id').where('id', '=', sessionId).execute()).toEqual([])
})
