import { describe, expect, test } from 'vitest'
import { altered } from '#test/kit/altered.ts'
import { logInWithPassword as logIn } from '#test/kit/log-in.ts'
import { aCaller, aPerson, type Person } from '#test/kit/members.ts'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { testApp } from '#test/kit/test-app.ts'
import { forgetDevice } from './device-token.ts'
import { listDevices } from './list-sessions.ts'

const t = await testApp()
const { app, clock } = t

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
const FIREFOX_NEWER = FIREFOX.replaceAll('140.0', '152.0')
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

const enter = (
  person: Person,
  userAgent: string,
  over: { ip?: string; deviceToken?: string | null; password?: string } = {},
) =>
  logIn(
    app,
    { email: person.email, password: over.password ?? person.password },
    { ...aCaller({ userAgent, ip: over.ip ?? '192.0.2.10' }), deviceToken: over.deviceToken ?? null },
  )
const actions = async (person: Person) =>
  (
    await app.db.query<{ action: string; meta: { first?: boolean } }>(
      'select action, meta::jsonb as meta from audit_log where org_id = $1 order by seq',
      [person.actor.orgId],
    )
  ).rows.map(({ action, meta }) => (meta.first === undefined ? action : `${action} ${meta.first ? 'first' : 'later'}`))
const mails = async (person: Person) =>
  (await queuedMails(app, person.email))
    .filter(({ type }) => type === 'device.new')
    .map(({ details }) => details?.[0]?.[1])

test('the first device is recorded without a mail, a later one with a mail, after the sign-in', async () => {
  const person = await aPerson(app)
  await enter(person, FIREFOX)
  expect(await mails(person)).toEqual([])
  await enter(person, SAFARI)
  expect(await actions(person)).toEqual([
    'signin.password.ok',
    'device.new first',
    'signin.password.ok',
    'device.new later',
  ])
  expect(await mails(person)).toEqual(['Safari on iOS'])
})

test('an update, another address and a lost cookie are the same device; another year is not', async () => {
  const person = await aPerson(app)
  const { deviceToken } = await enter(person, FIREFOX)
  await enter(person, FIREFOX_NEWER, { ip: '203.0.113.9' })
  await enter(person, FIREFOX, { deviceToken })
  expect((await actions(person)).filter((action) => action.startsWith('device'))).toEqual(['device.new first'])
  clock.advance(366 * 86_400_000)
  await enter(person, FIREFOX)
  expect((await actions(person)).filter((action) => action.startsWith('device'))).toHaveLength(2)
})

test('a cookie with another browser is the device it names, but not with a forged or foreign one', async () => {
  const [person, stranger] = [await aPerson(app), await aPerson(app)]
  const { deviceToken } = await enter(person, FIREFOX)
  await enter(person, SAFARI, { deviceToken })
  expect((await listDevices(app, person.actor)).items).toHaveLength(1)
  const theirs = (await enter(stranger, FIREFOX)).deviceToken ?? ''
  for (const forged of [theirs, altered(deviceToken ?? ''), 'dv_', '', 'x'.repeat(5_000)])
    await enter(person, SAFARI, { deviceToken: forged })
  expect((await listDevices(app, person.actor)).items.map(({ label }) => label).toSorted()).toEqual([
    'Firefox on Windows',
    'Safari on iOS',
  ])
})

test('a device that was forgotten is new again', async () => {
  const person = await aPerson(app)
  const { deviceToken } = await enter(person, FIREFOX)
  const [device] = (await listDevices(app, person.actor)).items
  await expect(forgetDevice(app, (await aPerson(app)).actor, device?.id ?? '')).rejects.toMatchObject({
    code: 'not_found',
  })
  await forgetDevice(app, person.actor, device?.id ?? '')
  await enter(person, FIREFOX, { deviceToken })
  expect((await actions(person)).filter((action) => action.startsWith('device'))).toEqual([
    'device.new first',
    'device.new later',
  ])
})

describe('limits', () => {
  const limited = { code: 'rate_limited' }

  test("wrong passwords of strangers do not keep a known device out, and its own do not keep others' out", async () => {
    const person = await aPerson(app)
    const { deviceToken } = await enter(person, FIREFOX)
    for (let n = 0; n < 8; n++) await enter(person, SAFARI, { password: 'wrong' }).catch(() => undefined)
    await expect(enter(person, SAFARI)).rejects.toMatchObject(limited)
    await expect(enter(person, FIREFOX, { deviceToken })).resolves.toBeDefined()
    for (let n = 0; n < 5; n++)
      await expect(enter(person, FIREFOX, { deviceToken, password: 'wrong' })).rejects.toMatchObject({
        code: 'unauthenticated',
      })
    await expect(enter(person, FIREFOX, { deviceToken })).rejects.toMatchObject(limited)
    await expect(enter(person, SAFARI, { ip: '203.0.113.77' })).resolves.toBeDefined()
  })

  test('five hundred parallel wrong passwords cost at most five hashes, and the right one of a known device works', async () => {
    const person = await aPerson(app)
    const { deviceToken } = await enter(person, FIREFOX)
    let hashes = 0
    const counting = {
      ...app,
      passwords: {
        ...app.passwords,
        verify: (stored: string | null, password: string) => {
          hashes++
          return app.passwords.verify(stored, password)
        },
      },
    }
    const caller = aCaller({ ip: '198.51.100.99' })
    const results = await Promise.allSettled(
      Array.from({ length: 500 }, () => logIn(counting, { email: person.email, password: 'wrong' }, caller)),
    )
    expect(results.every(({ status }) => status === 'rejected')).toBe(true)
    expect(hashes).toBeLessThanOrEqual(5)
    await expect(enter(person, FIREFOX, { deviceToken, ip: '198.51.100.99' })).resolves.toBeDefined()
  })
})
