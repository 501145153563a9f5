import { expect, test } from 'vitest'
import { aCaller, aPerson } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { LIMITS, takeAttempt } from './attempts.ts'
import { selectUserDevices } from './devices.queries.ts'
import { purgeAccounts } from './authenticate.ts'
import { recogniseDevice } from './complete-sign-in.ts'
import { refreshSession } from './refresh-session.ts'

const t = await testApp()
const DAY_MS = 86_400_000

test('keeps active counters and sessions used within 90 days, deletes the rest', async () => {
  const person = await aPerson(t.app)
  const { sessionId } = person.actor
  await takeAttempt(t.app, LIMITS.signUp, 'old', '192.0.2.1')
  t.clock.advance(DAY_MS)
  await takeAttempt(t.app, LIMITS.signUp, 'new', '192.0.2.1')
  t.clock.advance(1000)
  await purgeAccounts(t.app)
  const counters = await t.app.db.selectFrom('attempt_counters').select('key').execute()
  expect(counters).toEqual([{ key: 'new' }])

  const kept = () => t.app.db.selectFrom('sessions').select('id').where('id', '=', sessionId).execute()
  const { refreshToken } = await refreshSession(t.app, person.tokens.refreshToken, aCaller())
  t.clock.advance(89 * DAY_MS)
  await purgeAccounts(t.app)
  expect(await kept()).toEqual([{ id: sessionId }])
  await expect(refreshSession(t.app, refreshToken, aCaller())).rejects.toMatchObject({ code: 'unauthenticated' })

  t.clock.advance(2 * DAY_MS)
  await purgeAccounts(t.app)
  expect(await kept()).toEqual([])
})

test('a device is forgotten when its cookie has expired', async () => {
  const { userId, origin } = (await aPerson(t.app)).actor
  await t.app.tx((tx) => recogniseDevice(tx, t.app, userId, { origin, token: null }))
  t.clock.advance(399 * DAY_MS)
  await purgeAccounts(t.app)
  expect(await selectUserDevices(t.app.db, userId)).toHaveLength(1)
  t.clock.advance(2 * DAY_MS)
  await purgeAccounts(t.app)
  expect(await selectUserDevices(t.app.db, userId)).toEqual([])
})
