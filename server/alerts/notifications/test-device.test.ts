import { expect, test } from 'vitest'
import { client } from '#test/kit/client.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { aDevice, fcmToken } from '#test/kit/push-devices.ts'
import { pushWorld } from '#test/kit/push-world.ts'
import { testServer } from '#test/kit/test-server.ts'
import { PushDevice } from './devices.api.ts'

const world = await pushWorld()
const t = await testServer({ env: world.env })
world.follow(t.clock)
const { expo, fcm } = world
const { app } = t

const as = (person: Person) => {
  const browser = client(t.url)
  for (const pair of person.cookie.split('; ')) browser.cookies.set(...(pair.split('=') as [string, string]))
  return browser
}
const send = (person: Person, deviceId: string) => as(person).post(`/api/notifications/devices/${deviceId}/test`)

test('a test is sent at once, also within quiet hours, and the device shows it', async () => {
  const person = await aPerson(app, { role: 'viewer' })
  const [ios, android] = [await aDevice(app, person), await aDevice(app, person, { token: fcmToken() })]
  await as(person).patch('/api/me/notifications', {
    channels: { push: false },
    quiet_hours: { enabled: true, start: '00:00', end: '23:59' },
  })
  for (const { id } of [ios, android]) {
    const { status, body } = await send(person, id)
    expect([status, body]).toEqual([200, { outcome: 'delivered', error: null, device_removed: false }])
    const device = PushDevice.strict().parse((await as(person).get(`/api/notifications/devices/${id}`)).body)
    expect(device).toMatchObject({ last_sent_at: t.clock.now().toISOString(), provider_configured: true })
  }
  expect(expo.taken.at(-1)).toMatchObject({
    to: ios.token,
    data: { type: 'test', url: `${app.config.publicUrl}/me/notifications` },
  })
  expect(fcm.taken.at(-1)).toMatchObject({ token: android.token, notification: { title: 'Faultline test' } })
})

test('what the provider answers is shown; a dead device is removed', async () => {
  const person = await aPerson(app)
  const [busy, dead] = [await aDevice(app, person), await aDevice(app, person)]
  expo.fault = { status: 503 }
  expect((await send(person, busy.id)).body).toEqual({
    outcome: 'failed',
    error: { code: 'HTTP_503', text: 'Expo answered 503.' },
    device_removed: false,
  })
  expect((await as(person).get(`/api/notifications/devices/${busy.id}`)).body).toMatchObject({
    last_error: { code: 'HTTP_503' },
  })
  expo.fault = undefined
  expo.tokens.set(dead.token, { ticket: 'DeviceNotRegistered' })
  expect((await send(person, dead.id)).body).toEqual({
    outcome: 'failed',
    error: {
      code: 'DeviceNotRegistered',
      text: '"ExponentPushToken[…]" is not a registered push notification recipient',
    },
    device_removed: true,
  })
  expect((await send(person, dead.id)).status).toBe(404)
})

test("another member's device is not found", async () => {
  const [person, stranger] = [await aPerson(app), await aPerson(app)]
  const { id } = await aDevice(app, person)
  expect((await send(stranger, id)).status).toBe(404)
})
