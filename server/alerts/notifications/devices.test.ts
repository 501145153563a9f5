import { describe, expect, test } from 'vitest'
import { client } from '#test/kit/client.ts'
import { everythingStored } from '#test/kit/everything-stored.ts'
import { aCaller, aMembership, anOrg, aPerson, type Person } from '#test/kit/members.ts'
import { aDevice, expoToken, fcmToken } from '#test/kit/push-devices.ts'
import { testServer } from '#test/kit/test-server.ts'
import { createKey } from '../../identity/api-keys/create-key.ts'
import { deleteKey } from '../../identity/api-keys/delete-key.ts'
import { logOut } from '../../identity/auth/log-out.ts'
import { switchOrg } from '../../identity/auth/switch-org.ts'
import { rotateDataKeys } from '../../service/cli/account-commands.ts'
import { changeMember } from '../../identity/team/change-member.ts'
import { removeMember } from '../../identity/team/remove-member.ts'
import { MAX_DEVICES_PER_USER, PushDevice } from './devices.api.ts'
import { selectDevices } from './devices.queries.ts'
import { maskedToken, detectPushProvider } from './push-token.ts'
import { registerDevice } from './register-device.ts'

const t = await testServer()
const { app, clock } = t

function as(person: Person) {
  const browser = client(t.url)
  for (const pair of person.cookie.split('; ')) browser.cookies.set(...(pair.split('=') as [string, string]))
  return browser
}
const register = (person: Person, token: unknown, platform: unknown = 'ios') =>
  as(person).post('/api/notifications/devices', { token, platform })
const devicesOf = async (person: Person): Promise<PushDevice[]> =>
  (await as(person).get('/api/notifications/devices')).as<{ items: PushDevice[] }>().items
const countOf = async ({ actor }: Person): Promise<number> => (await selectDevices(app.db, actor)).length

describe('registering', () => {
  test('a viewer registers a device, reads it without its token, and removes it', async () => {
    const org = await anOrg(app)
    const viewer = await aPerson(app, { org, role: 'viewer' })
    const token = 'ExponentPushToken[abcdefghijklmnopqrwxyz]'
    const made = await register(viewer, token)
    expect(made.status).toBe(201)
    const device = PushDevice.strict().parse(made.body)
    expect(device).toMatchObject({
      platform: 'ios',
      provider: 'expo',
      provider_configured: false,
      token: 'ExponentPushToken[…wxyz]',
      last_sent_at: null,
      last_error: null,
    })
    const path = `/api/notifications/devices/${device.id}`
    expect((await as(viewer).get(path)).body).toEqual(made.body)
    expect(await devicesOf(viewer)).toEqual([device])
    // Another member of the organisation knows nothing of it.
    const other = await aPerson(app, { org, role: 'owner' })
    expect(await devicesOf(other)).toEqual([])
    expect((await as(other).get(path)).status).toBe(404)
    expect((await as(other).delete(path)).status).toBe(404)
    expect((await as(viewer).delete(path)).status).toBe(204)
    expect((await as(viewer).delete(path)).status).toBe(404)
    expect(await devicesOf(viewer)).toEqual([])
  })

  test('the form of the token names the provider', async () => {
    const person = await aPerson(app)
    for (const [token, platform, provider] of [
      [expoToken(), 'android', 'expo'],
      ['ExpoPushToken[xxxxxxxxxxxxxxxxxxxxxx]', 'ios', 'expo'],
      [fcmToken(), 'android', 'fcm'],
      ['x'.repeat(152), 'web', 'fcm'],
    ] as const) {
      const { status, body } = await register(person, token, platform)
      expect([status, body['provider'], body['platform']]).toEqual([201, provider, platform])
    }
  })

  test.each([
    ['', 'ios'],
    ['not-a-token', 'ios'],
    ['ExponentPushToken[]', 'ios'],
    ['ExponentPushToken[abc', 'ios'],
    ['xExponentPushToken[abc]', 'ios'],
    ['ExponentPushToken[abc]\n', 'ios'],
    ['ExponentPushToken[a b]', 'ios'],
    [`ExponentPushToken[${'a'.repeat(201)}]`, 'ios'],
    [`abcdefgh:APA91b${'a'.repeat(20)} `, 'android'],
    ['a'.repeat(5_000), 'android'],
    [7, 'ios'],
    [null, 'ios'],
    ['ExponentPushToken[abc]', 'windows'],
    ['ExponentPushToken[abc]', null],
  ])('refuses %j for %s', async (token, platform) => {
    const person = await aPerson(app)
    const { status, body } = await register(person, token, platform)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toMatch(typeof platform === 'string' && platform !== 'windows' ? /token/ : /platform/)
    expect(await countOf(person)).toBe(0)
  })

  test('the same token again is 200 and the same device', async () => {
    const person = await aPerson(app)
    const token = expoToken()
    const first = await register(person, token)
    clock.advance(60_000)
    const again = await register(person, token, 'android')
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual({
      ...first.body,
      platform: 'android',
      registered_at: clock.now().toISOString(),
    })
  })

  test('a token belongs to the newest user, in whatever organisation', async () => {
    const token = expoToken()
    const [first, second] = [await aPerson(app), await aPerson(app)]
    const elsewhere = await aMembership(app, first)
    const other = await aPerson(app, { org: { id: first.actor.orgId, slug: first.orgSlug } })
    expect((await register(first, token)).status).toBe(201)
    expect((await register(elsewhere, token)).status).toBe(200)
    // The same user receives pushes of both organisations.
    expect([await countOf(first), await countOf(elsewhere)]).toEqual([1, 1])
    expect((await register(other, token)).status).toBe(200)
    expect([await countOf(first), await countOf(elsewhere), await countOf(other)]).toEqual([0, 0, 1])
    const { status, body } = await register(second, token)
    expect(status).toBe(200)
    expect([await countOf(other), await countOf(second)]).toEqual([0, 1])
    expect((await devicesOf(second))[0]).toEqual(body)
  })

  test('parallel registrations of one token leave one owner', async () => {
    const token = expoToken()
    const users = await Promise.all(Array.from({ length: 5 }, () => aPerson(app)))
    const answers = await Promise.all(users.map((person) => register(person, token)))
    expect(answers.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4)
    const counts = await Promise.all(users.map(countOf))
    expect(counts.filter((count) => count === 1)).toHaveLength(1)
    expect(counts.filter((count) => count === 0)).toHaveLength(4)
  })

  test('a member has a bounded number of devices; known ones still register', async () => {
    const person = await aPerson(app)
    const tokens = Array.from({ length: MAX_DEVICES_PER_USER }, expoToken)
    for (const token of tokens) await aDevice(app, person, { token })
    const refused = await register(person, expoToken())
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('Remove one')
    expect((await register(person, tokens[0])).status).toBe(200)
    const page = await as(person).get('/api/notifications/devices?limit=15')
    expect(page.body).toMatchObject({ total: MAX_DEVICES_PER_USER, next_cursor: '15' })
    const rest = await as(person).get('/api/notifications/devices?limit=15&cursor=15')
    expect(rest.body['items']).toHaveLength(MAX_DEVICES_PER_USER - 15)
  })
})

test('an API key with the scope registers devices of its member, which end with the key', async () => {
  const person = await aPerson(app)
  const { key, id } = await createKey(app, person.actor, { name: 'Phone', scopes: ['alerts:write', 'alerts:read'] })
  const { key: weak } = await createKey(app, person.actor, { name: 'CI', scopes: ['alerts:read'] })
  const post = (bearer: string) =>
    client(t.url).request('POST', '/api/notifications/devices', {
      body: { token: expoToken(), platform: 'ios' },
      headers: { authorization: `Bearer ${bearer}` },
    })
  expect((await post(weak)).status).toBe(403)
  expect((await post(key)).status).toBe(201)
  expect(await countOf(person)).toBe(1)
  await deleteKey(app, person.actor, id)
  expect(await countOf(person)).toBe(0)
})

describe('devices end with', () => {
  test('log-out, but not with the log-out of another session', async () => {
    const person = await aPerson(app)
    const phone = await aMembership(app, person)
    await aDevice(app, person)
    await aDevice(app, phone)
    await logOut(app, phone.tokens, aCaller())
    expect([await countOf(person), await countOf(phone)]).toEqual([1, 0])
    await expect(registerDevice(app, phone.actor, { token: expoToken(), platform: 'ios' })).rejects.toMatchObject({
      code: 'unauthenticated',
    })
  })

  test('a session that is revoked, but not with a change of the role', async () => {
    const org = await anOrg(app)
    const [owner, member] = [await aPerson(app, { org }), await aPerson(app, { org, role: 'viewer' })]
    await aDevice(app, member)
    await changeMember(app, owner.actor, member.actor.userId, { role: 'member' })
    expect(await countOf(member)).toBe(1)
    await aDevice(app, owner)
    await as(owner).delete(`/api/auth/sessions/${owner.actor.sessionId}`)
    expect(await countOf(owner)).toBe(0)
  })

  test('the removal of the member, and the deletion of the user', async () => {
    const org = await anOrg(app)
    const [owner, member] = [await aPerson(app, { org }), await aPerson(app, { org, role: 'member' })]
    const { key } = await createKey(app, member.actor, { name: 'Phone', scopes: ['alerts:write'] })
    expect(key).not.toBe('')
    const elsewhere = await aMembership(app, member, { role: 'member' })
    await aDevice(app, member)
    await aDevice(app, elsewhere)
    await removeMember(app, owner.actor, member.actor.userId)
    expect([await countOf(member), await countOf(elsewhere)]).toEqual([0, 1])
    await app.db.deleteFrom('users').where('id', '=', member.actor.userId).execute()
    expect(await countOf(elsewhere)).toBe(0)
  })

  test('switching the organisation keeps them, and the new session ends them', async () => {
    const person = await aPerson(app)
    const other = await aMembership(app, person)
    const device = await aDevice(app, person)
    const { tokens } = await switchOrg(app, person.actor, other.orgSlug)
    expect((await selectDevices(app.db, person.actor)).map(({ id }) => id)).toEqual([device.id])
    await logOut(app, tokens, aCaller())
    expect(await countOf(person)).toBe(0)
  })
})

test('tokens are stored sealed, also after a rotation of the keys', async () => {
  const person = await aPerson(app)
  const { id, token } = await aDevice(app, person)
  const secret = token.slice('ExponentPushToken['.length, -1)
  expect(await everythingStored(app.db)).not.toContain(secret)
  const sealed = () =>
    app.db.selectFrom('push_devices').select('token_sealed').where('id', '=', id).executeTakeFirstOrThrow()
  const before = await sealed()
  await rotateDataKeys(app, () => {})
  expect(await sealed()).not.toEqual(before)
  expect((await register(person, token)).status).toBe(200)
  expect(JSON.stringify(t.logLines)).not.toContain(secret)
})

test('a masked token shows at most half of what it masks', () => {
  expect(maskedToken('ExponentPushToken[ab]')).toBe('ExponentPushToken[…b]')
  expect(maskedToken('ExpoPushToken[abcdefghij]')).toBe('ExpoPushToken[…ghij]')
  const fcm = fcmToken()
  expect(maskedToken(fcm)).toBe(`…${fcm.slice(-4)}`)
  expect(detectPushProvider(fcm)).toBe('fcm')
})
