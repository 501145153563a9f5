import { afterEach, describe, expect, test } from 'vitest'
import { everythingStored } from '#test/kit/everything-stored.ts'
import { anOrg, aPerson, type Person } from '#test/kit/members.ts'
import { aDevice, expoToken, fcmToken, type TestDevice } from '#test/kit/push-devices.ts'
import { pushWorld } from '#test/kit/push-world.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { App } from '../../platform/context/app.ts'
import { aWorker } from '../../platform/outbox/engine.fixture.ts'
import { readDelivery, type DeliveryDetail } from '../../platform/outbox/read-delivery.ts'
import { selectDevice, selectDevices, type DeviceRow } from './devices.queries.ts'
import { type Notice, type NotifiedDevice, notifyMembers } from './notify-members.ts'
import { pushChannel } from './push-channel.ts'
import { RECEIPTS_JOB } from './receipts-job.ts'
import { pushReceiptsTask } from './read-receipts-task.ts'
import { registerDevice } from './register-device.ts'
import { updatePreferences } from './update-preferences.ts'

const world = await pushWorld()
const t = await testApp({ env: world.env })
world.follow(t.clock)
const { expo, fcm } = world
const { app, clock } = t
/** Retries come at once. */
const hasty: App = { ...app, config: { ...app.config, retryScale: 0 } }

afterEach(async () => {
  expo.fault = undefined
  expo.hasReceipts = true
  fcm.fault = undefined
  fcm.accessFault = undefined
  await app.db.query(`delete from graphile_worker._private_jobs`)
})

const NOTICE = {
  type: 'alert.fired',
  severity: 'high',
  title: 'Checkout crashes',
  body: '120 events in 5 minutes, the limit is 100.',
  data: { alert_id: 'a1', issue_id: 'i1', project_id: 'p1', url: 'https://faultline.example.com/issues/1' },
} as const

const notify = ({ actor }: Person, over: Partial<Notice> = {}): Promise<NotifiedDevice[]> =>
  app.tx((tx) => notifyMembers(tx, { ...NOTICE, orgId: actor.orgId, at: clock.now(), ...over }))

const deliveryOf = async ({ actor }: Person, id: string): Promise<DeliveryDetail> => {
  const one = await readDelivery(app.db, actor.orgId, id)
  if (one === null) throw new Error(`no delivery ${id}`)
  return one
}
const ended = (person: Person, { deliveryId }: NotifiedDevice): Promise<DeliveryDetail> =>
  waitFor(`the end of ${deliveryId}`, async () => {
    const one = await deliveryOf(person, deliveryId)
    return (one.state === 'delivered' || one.state === 'failed') && one.nextAttemptAt === null && one
  })
const attempted = (person: Person, { deliveryId }: NotifiedDevice): Promise<DeliveryDetail> =>
  waitFor(`an attempt of ${deliveryId}`, async () => {
    const one = await deliveryOf(person, deliveryId)
    return one.attemptsMade > 0 && one.state !== 'in_flight' && one
  })
const row = ({ actor }: Person, { id }: TestDevice): Promise<DeviceRow | undefined> => selectDevice(app.db, actor, id)

type ReceiptsJob = { payload: { tickets: { id: string; device_id: string }[]; round: number }; in_minutes: number }
const receiptJobs = async (): Promise<ReceiptsJob[]> =>
  (
    await app.db.query<ReceiptsJob>(
      `select p.payload, round(extract(epoch from p.run_at - now()) / 60)::int as in_minutes
       from graphile_worker._private_jobs p join graphile_worker.jobs j using (id) where j.task_identifier = $1`,
      [RECEIPTS_JOB],
    )
  ).rows
const readReceipts = async (job: ReceiptsJob | undefined): Promise<void> => {
  await app.db.query(`delete from graphile_worker._private_jobs`)
  await pushReceiptsTask.run(app, job?.payload, new AbortController().signal)
}

/** The only one of a list. */
function only<T>(items: readonly T[]): T {
  const [one, ...others] = items
  if (one === undefined || others.length > 0) throw new Error(`expected one, there are ${items.length}`)
  return one
}

describe('through Expo', () => {
  test('a push arrives, its device shows it, and its receipt is asked for a quarter of an hour later', async () => {
    aWorker(app, pushChannel)
    const person = await aPerson(app)
    const device = await aDevice(app, person)
    const sent = only(await notify(person))
    expect(sent).toMatchObject({ deviceId: device.id, userId: person.actor.userId, heldUntil: null })
    expect(device.token).toContain(sent.label.slice(-5, -1))
    const delivery = await ended(person, sent)
    expect(delivery).toMatchObject({ state: 'delivered', type: 'alert.fired', attemptsMade: 1, lastStatus: 200 })
    expect(expo.taken.filter(({ to }) => to === device.token)).toEqual([
      {
        to: device.token,
        title: NOTICE.title,
        body: NOTICE.body,
        data: NOTICE.data,
        sound: 'default',
        priority: 'high',
        ttl: 86_400,
      },
    ])
    expect(await row(person, device)).toMatchObject({ last_error_code: null, last_sent_at: expect.any(Date) as Date })
    const job = only(await receiptJobs())
    expect(job).toEqual({
      payload: { tickets: [{ id: expect.any(String) as string, device_id: device.id }], round: 0 },
      in_minutes: 15,
    })
    await readReceipts(job)
    expect(await row(person, device)).toMatchObject({ last_error_code: null })
    expect(await receiptJobs()).toEqual([])
  })

  test('no request has more than 100 messages, and many share one', async () => {
    const org = await anOrg(app)
    const owner = await aPerson(app, { org })
    const members = [owner, ...(await Promise.all(Array.from({ length: 12 }, () => aPerson(app, { org }))))]
    for (const member of members) for (let n = 0; n < 20; n++) await aDevice(app, member)
    const [before, taken] = [expo.batches.length, expo.taken.length]
    const sent = await notify(owner)
    expect(sent).toHaveLength(260)
    aWorker(app, pushChannel)
    for (const one of sent) expect((await ended(owner, one)).state).toBe('delivered')
    const batches = expo.batches.slice(before)
    expect(Math.max(...batches)).toBeLessThanOrEqual(100)
    expect(batches.length).toBeLessThan(52)
    expect(expo.taken).toHaveLength(taken + 260)
  })

  test('a dead token ends its delivery and its device, and no other', async () => {
    aWorker(app, pushChannel)
    const person = await aPerson(app)
    const [dead, alive] = [await aDevice(app, person), await aDevice(app, person)]
    expo.tokens.set(dead.token, { ticket: 'DeviceNotRegistered' })
    const sent = await notify(person)
    const byDevice = new Map(sent.map((one) => [one.deviceId, one]))
    const [toDead, toAlive] = [byDevice.get(dead.id), byDevice.get(alive.id)]
    if (toDead === undefined || toAlive === undefined) throw new Error('a device was left out')
    expect(await ended(person, toDead)).toMatchObject({
      state: 'failed',
      attemptsMade: 1,
      lastErrorCode: 'DeviceNotRegistered',
    })
    expect(await ended(person, toAlive)).toMatchObject({ state: 'delivered' })
    expect((await selectDevices(app.db, person.actor)).map(({ id }) => id)).toEqual([alive.id])
  })

  test('a device that its receipt calls dead is removed; other errors are noted', async () => {
    aWorker(app, pushChannel)
    const person = await aPerson(app)
    const [dead, refused] = [await aDevice(app, person), await aDevice(app, person)]
    expo.tokens.set(dead.token, { receipt: 'DeviceNotRegistered' })
    expo.tokens.set(refused.token, { receipt: 'InvalidCredentials' })
    for (const one of await notify(person)) await ended(person, one)
    expect(await selectDevices(app.db, person.actor)).toHaveLength(2)
    for (const job of await receiptJobs()) await readReceipts(job)
    expect(await selectDevices(app.db, person.actor)).toMatchObject([
      { id: refused.id, last_error_code: 'InvalidCredentials' },
    ])
  })

  test('receipts that are not there yet are asked for again, each time later, and then no more', async () => {
    aWorker(app, pushChannel)
    const person = await aPerson(app)
    await aDevice(app, person)
    await ended(person, only(await notify(person)))
    expo.hasReceipts = false
    const minutes: number[] = []
    for (let jobs = await receiptJobs(); jobs.length > 0; jobs = await receiptJobs()) {
      minutes.push(only(jobs).in_minutes)
      await readReceipts(only(jobs))
    }
    expect(minutes).toEqual([15, 15, 30, 60, 120, 240])
    expect(t.logLines.some(({ msg }) => msg === 'Expo gave no receipts for pushes')).toBe(true)
  })

  test('devices of several apps, and one message that Expo refuses, hold up no others', async () => {
    const person = await aPerson(app)
    const devices = await Promise.all(Array.from({ length: 9 }, () => aDevice(app, person)))
    const [malformed] = devices
    for (const [index, { token }] of devices.entries())
      if (index % 3 === 1) expo.tokens.set(token, { app: '@acme/ops' })
    expo.tokens.set(malformed?.token ?? '', { isMalformed: true })
    const sent = await notify(person)
    aWorker(app, pushChannel)
    for (const one of sent)
      expect(await ended(person, one)).toMatchObject(
        one.deviceId === malformed?.id
          ? { state: 'failed', attemptsMade: 1, lastErrorCode: 'VALIDATION_ERROR' }
          : { state: 'delivered', attemptsMade: 1 },
      )
    expect(await selectDevices(app.db, person.actor)).toHaveLength(9)
  })

  test.each([
    ['429 with seconds', { status: 429, headers: { 'retry-after': '600' } }, 'HTTP_429', 600],
    [
      '503 with a date',
      { status: 503, headers: { 'retry-after': 'Fri, 20 Nov 2026 12:20:00 GMT' } },
      'HTTP_503',
      1_200,
    ],
    ['500', { status: 500, body: 'oops' }, 'HTTP_500', 30],
    ['a day', { status: 503, headers: { 'retry-after': '86400' } }, 'HTTP_503', 3_600],
    ['a broken answer', { status: 200, body: '{"data":[]}' }, 'HTTP_200', 30],
  ])('%s is tried again when the provider says so', async (_name, fault, code, seconds) => {
    clock.set('2026-11-20T12:00:00.000Z')
    aWorker(app, pushChannel)
    const person = await aPerson(app)
    const device = await aDevice(app, person)
    expo.fault = fault
    const delivery = await attempted(person, only(await notify(person)))
    expect(delivery).toMatchObject({ state: 'failed', lastErrorCode: code })
    const waitMs = (delivery.nextAttemptAt?.getTime() ?? 0) - (delivery.attempts[0]?.startedAt.getTime() ?? 0)
    expect(Math.abs(waitMs - seconds * 1_000)).toBeLessThan(5_000)
    expect(await row(person, device)).toMatchObject({ last_error_code: code })
  })
})

describe('through Firebase', () => {
  test('a push arrives; one access token serves until a minute before it expires', async () => {
    aWorker(app, pushChannel)
    const person = await aPerson(app)
    const device = await aDevice(app, person, { token: fcmToken(), platform: 'android' })
    const before = fcm.granted.length
    const send = async () => ended(person, only(await notify(person)))
    expect(await send()).toMatchObject({ state: 'delivered', lastStatus: 200 })
    expect(fcm.taken.at(-1)).toMatchObject({
      token: device.token,
      notification: { title: NOTICE.title, body: NOTICE.body },
      data: NOTICE.data,
      android: { priority: 'HIGH' },
      apns: { headers: { 'apns-priority': '10' } },
    })
    await send()
    clock.advance(3_538_000)
    await send()
    expect(fcm.granted.length).toBe(before + 1)
    clock.advance(2_000)
    await send()
    expect(fcm.granted.length).toBe(before + 2)
    const all = await everythingStored(app.db)
    for (const token of fcm.granted) expect(all).not.toContain(token)
  })

  test('many pushes at a time ask for one access token', async () => {
    clock.advance(7_200_000)
    const person = await aPerson(app)
    for (let n = 0; n < 20; n++) await aDevice(app, person, { token: fcmToken() })
    const before = fcm.granted.length
    const sent = await notify(person)
    aWorker(app, pushChannel)
    for (const one of sent) expect((await ended(person, one)).state).toBe('delivered')
    expect(fcm.granted.length).toBe(before + 1)
  })

  test('an access token that was revoked is replaced by the next attempt', async () => {
    aWorker(hasty, pushChannel)
    const person = await aPerson(app)
    await aDevice(app, person, { token: fcmToken() })
    await ended(person, only(await notify(person)))
    fcm.revokeAccess()
    const again = await ended(person, only(await notify(person)))
    expect(again).toMatchObject({ state: 'delivered', attemptsMade: 2 })
    expect(again.attempts[0]).toMatchObject({ status: 401, errorCode: 'UNAUTHENTICATED' })
    // The other apps that have such a token takes a new one.
    clock.advance(7_200_000)
  })

  test('a refused service account fails the attempt with what Google says, and is tried again', async () => {
    const fresh: App = { ...app }
    aWorker(fresh, pushChannel)
    const person = await aPerson(app)
    const device = await aDevice(app, person, { token: fcmToken() })
    fcm.accessFault = { status: 400, body: '{"error":"invalid_grant","error_description":"Invalid JWT Signature."}' }
    expect(await attempted(person, only(await notify(person)))).toMatchObject({ lastErrorCode: 'FCM_ACCESS' })
    const after = await row(person, device)
    expect(after?.last_error_text).toBe(
      'Google answered 400 to the service account: invalid_grant Invalid JWT Signature..',
    )
  })

  test.each([
    ['unregistered', 'UNREGISTERED'],
    ['invalid', 'INVALID_ARGUMENT'],
  ] as const)('a token that is %s removes its device', async (state, code) => {
    aWorker(app, pushChannel)
    const person = await aPerson(app)
    const device = await aDevice(app, person, { token: fcmToken() })
    fcm.tokens.set(device.token, state)
    expect(await ended(person, only(await notify(person)))).toMatchObject({ attemptsMade: 1, lastErrorCode: code })
    expect(await row(person, device)).toBeUndefined()
  })

  test('what is not about the device keeps it: another sender, a wrong address, too many requests', async () => {
    aWorker(app, pushChannel)
    const person = await aPerson(app)
    const device = await aDevice(app, person, { token: fcmToken() })
    fcm.tokens.set(device.token, 'other sender')
    expect(await ended(person, only(await notify(person)))).toMatchObject({ lastErrorCode: 'SENDER_ID_MISMATCH' })
    fcm.fault = { status: 404, body: '<html>not here</html>' }
    const wrong = await attempted(person, only(await notify(person)))
    expect(wrong).toMatchObject({ lastErrorCode: 'HTTP_404', nextAttemptAt: expect.any(Date) as Date })
    fcm.fault = { status: 429, headers: { 'retry-after': '120' }, body: '{"error":{"status":"RESOURCE_EXHAUSTED"}}' }
    const busy = await attempted(person, only(await notify(person)))
    const waitMs = (busy.nextAttemptAt?.getTime() ?? 0) - (busy.attempts[0]?.startedAt.getTime() ?? 0)
    expect(waitMs).toBeGreaterThan(115_000)
    expect(await row(person, device)).toMatchObject({ last_error_code: 'RESOURCE_EXHAUSTED' })
  })
})

test('a provider that hangs holds up neither the other one nor other organisations', async () => {
  aWorker(app, pushChannel)
  const [one, other] = [await aPerson(app), await aPerson(app)]
  await aDevice(app, one)
  const android = await aDevice(app, one, { token: fcmToken() })
  expo.fault = { fault: 'hang' }
  const [toAndroid] = (await notify(one)).filter(({ deviceId }) => deviceId === android.id)
  await aDevice(app, other, { token: fcmToken() })
  if (toAndroid === undefined) throw new Error('no push')
  expect((await ended(one, toAndroid)).state).toBe('delivered')
  expect((await ended(other, only(await notify(other)))).state).toBe('delivered')
})

describe('who is notified', () => {
  const deviceIds = (sent: readonly NotifiedDevice[]) => sent.map(({ deviceId }) => deviceId).toSorted()

  test('members of the organisation who asked for it, or those who are named', async () => {
    const org = await anOrg(app)
    const owner = await aPerson(app, { org })
    const viewer = await aPerson(app, { org, role: 'viewer' })
    const disabled = await aPerson(app, { org, role: 'member' })
    const off = await aPerson(app, { org, role: 'member' })
    const stranger = await aPerson(app)
    const [a, b] = [await aDevice(app, owner), await aDevice(app, viewer)]
    for (const person of [disabled, off, stranger]) await aDevice(app, person)
    await updatePreferences(app, off.actor, { channels: { push: false } })
    await app.db
      .updateTable('memberships')
      .set({ disabled_at: clock.now() })
      .where('user_id', '=', disabled.actor.userId)
      .execute()
    expect(deviceIds(await notify(owner))).toEqual([a.id, b.id].toSorted())
    const named = [viewer.actor.userId, off.actor.userId, stranger.actor.userId]
    expect(deviceIds(await notify(owner, { userIds: named }))).toEqual([b.id])
    expect(await notify(owner, { userIds: [] })).toEqual([])
  })

  test('from the severity on that they chose', async () => {
    const person = await aPerson(app)
    await aDevice(app, person)
    await updatePreferences(app, person.actor, { push_min_severity: 'high' })
    const counts = []
    for (const severity of ['low', 'medium', 'high', 'critical'] as const)
      counts.push((await notify(person, { severity })).length)
    expect(counts).toEqual([0, 0, 1, 1])
  })

  test('after their quiet hours, unless it is critical', async () => {
    const person = await aPerson(app)
    await aDevice(app, person)
    // Kathmandu is 5:45 ahead: 18:00 UTC is 23:45 there.
    await updatePreferences(app, person.actor, { quiet_hours: { enabled: true, time_zone: 'Asia/Kathmandu' } })
    const at = new Date('2026-11-20T18:00:00.000Z')
    const held = only(await notify(person, { at }))
    expect(held.heldUntil).toEqual(new Date('2026-11-21T01:15:00.000Z'))
    const { createdAt, nextAttemptAt } = await deliveryOf(person, held.deliveryId)
    const holdMs = (nextAttemptAt?.getTime() ?? 0) - createdAt.getTime()
    expect(Math.abs(holdMs - (7 * 60 + 15) * 60_000)).toBeLessThanOrEqual(1)
    aWorker(app, pushChannel)
    const critical = only(await notify(person, { at, severity: 'critical' }))
    expect(critical.heldUntil).toBeNull()
    expect((await ended(person, critical)).state).toBe('delivered')
    expect((await deliveryOf(person, held.deliveryId)).state).toBe('pending')
  })

  test('no device that changed hands or was removed on the way', async () => {
    const [before, after] = [await aPerson(app), await aPerson(app)]
    const [moved, removed] = [await aDevice(app, before), await aDevice(app, before)]
    const sent = await notify(before)
    await registerDevice(app, after.actor, { token: moved.token, platform: 'ios' })
    await app.db.deleteFrom('push_devices').where('id', '=', removed.id).execute()
    aWorker(app, pushChannel)
    for (const one of sent)
      expect(await ended(before, one)).toMatchObject({ attemptsMade: 1, lastErrorCode: 'DEVICE_REMOVED' })
    expect(expo.taken.some(({ to }) => to === moved.token || to === removed.token)).toBe(false)
  })
})

test('texts are cut to what providers take, between characters', async () => {
  aWorker(app, pushChannel)
  const person = await aPerson(app)
  const [ios, android] = [await aDevice(app, person), await aDevice(app, person, { token: fcmToken() })]
  const family = '👨‍👩‍👧‍👦'
  const data = { alert_id: 'a'.repeat(36), url: `https://faultline.example.com/${'é"'.repeat(2_000)}`, project_id: 'p' }
  const sent = await notify(person, { title: family.repeat(50), body: '\u0001"\\'.repeat(3_000), data })
  for (const one of sent) expect((await ended(person, one)).state).toBe('delivered')
  const message = expo.taken.find(({ to }) => to === ios.token)
  expect(message?.title).toBe(`${family.repeat(7)}…`)
  expect(Buffer.byteLength(JSON.stringify(message?.body))).toBeLessThanOrEqual(1_002)
  expect(message?.data).toEqual({ alert_id: data.alert_id, project_id: 'p' })
  expect(fcm.taken.some(({ token }) => token === android.token)).toBe(true)
})

test('a provider that is switched off says so in the delivery', async () => {
  const off: App = { ...app, config: { ...app.config, push: { expo: null, fcm: null } } }
  aWorker(off, pushChannel)
  const person = await aPerson(app)
  await aDevice(app, person)
  await aDevice(app, person, { token: fcmToken() })
  const codes = new Set<string | null>()
  for (const one of await notify(person)) codes.add((await ended(person, one)).lastErrorCode)
  expect(codes).toEqual(new Set(['EXPO_NOT_CONFIGURED', 'FCM_NOT_CONFIGURED']))
})

test('tokens are in no log, no message and no record of an attempt', async () => {
  aWorker(app, pushChannel)
  const person = await aPerson(app)
  const devices = [
    await aDevice(app, person, { token: expoToken() }),
    await aDevice(app, person, { token: expoToken() }),
    await aDevice(app, person, { token: fcmToken() }),
  ]
  const [first, second, third] = devices.map(({ token }) => token)
  expo.tokens.set(first ?? '', { ticket: 'DeviceNotRegistered' })
  expo.tokens.set(second ?? '', { receipt: 'MessageRateExceeded' })
  fcm.tokens.set(third ?? '', 'invalid')
  for (const one of await notify(person)) await ended(person, one)
  for (const job of await receiptJobs()) await readReceipts(job)
  const all = `${await everythingStored(app.db)}${JSON.stringify(t.logLines)}`
  expect(all).toContain('MessageRateExceeded')
  for (const { token } of devices) expect(all).not.toContain(token)
})
