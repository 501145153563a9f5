import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { App } from '../context/app.ts'
import { newId } from '../kernel/ids.ts'
import { aWorker } from '../outbox/engine.fixture.ts'
import { listDeliveries } from '../outbox/list-deliveries.ts'
import { anOrg } from '../outbox/outbox.fixture.ts'
import { enqueueMails, mailLaneId } from './enqueue-mails.ts'
import { mailChannel, renderMail } from './mail-channel.ts'

const t = await testApp()
const { app } = t

const A_MAIL = { to: 'ada@example.com', subject: 'Hello', name: 'Ada', paragraphs: [], type: 'test', userId: null }

const mailsOf = async (orgId: string) =>
  (await listDeliveries(app.db, mailLaneId(orgId), { limit: 10, offset: 0 })).items

test('mails are sent when their transaction commits, and not otherwise', async () => {
  const orgId = await anOrg(app)
  aWorker(app, mailChannel)
  const mail = { ...A_MAIL, paragraphs: ['It works.'] }
  await expect(
    app.tx(async (tx) => {
      await enqueueMails(tx, app, orgId, [{ ...mail, subject: 'Never' }])
      throw new Error('rolled back')
    }),
  ).rejects.toThrow('rolled back')
  for (let round = 0; round < 2; round++)
    await app.tx((tx) => enqueueMails(tx, app, orgId, [{ ...mail, userId: newId() }]))
  await waitFor('both', async () => (await mailsOf(orgId)).filter(({ state }) => state === 'delivered').length === 2)
  expect(t.mails).toEqual([
    { to: 'ada@example.com', ...renderMail(mail, app.config.publicUrl) },
    { to: 'ada@example.com', ...renderMail(mail, app.config.publicUrl) },
  ])
})

test('a held mail waits for its time, and holds up no other', async () => {
  const orgId = await anOrg(app)
  aWorker(app, mailChannel)
  const mails = [
    { ...A_MAIL, subject: 'Held', holdMs: 3_600_000 },
    { ...A_MAIL, subject: 'At once' },
  ]
  const [held = '', immediate = ''] = await app.tx((tx) => enqueueMails(tx, app, orgId, mails))
  await waitFor('the other mail', async () => (await mailsOf(orgId)).some(({ state }) => state === 'delivered'))
  const byId = new Map((await mailsOf(orgId)).map((one) => [one.id, one]))
  expect(byId.get(immediate)).toMatchObject({ state: 'delivered' })
  const { state, createdAt, nextAttemptAt } = byId.get(held) ?? {}
  expect(state).toBe('pending')
  const heldMs = (nextAttemptAt?.getTime() ?? 0) - (createdAt?.getTime() ?? 0)
  // The database rounds one of them to milliseconds.
  expect(Math.abs(heldMs - 3_600_000)).toBeLessThanOrEqual(1)
})

test('a mail that the server does not take is retried', async () => {
  const orgId = await anOrg(app)
  let refusals = 0
  const refusing: App = {
    ...app,
    config: { ...app.config, retryScale: 0 },
    mail: { send: () => (++refusals < 3 ? Promise.reject(new Error('421 try again later')) : Promise.resolve()) },
  }
  aWorker(refusing, mailChannel)
  await app.tx((tx) => enqueueMails(tx, app, orgId, [A_MAIL]))
  await waitFor('the third attempt', async () => (await mailsOf(orgId))[0]?.state === 'delivered')
  expect((await mailsOf(orgId))[0]).toMatchObject({ attempt: 3 })
  expect(refusals).toBe(3)
})

test('a mail that is never taken is given up, and the log says so', async () => {
  const orgId = await anOrg(app)
  const refusing: App = {
    ...app,
    config: { ...app.config, retryScale: 0 },
    mail: { send: () => Promise.reject(Object.assign(new Error('550 no'), { code: 'EENVELOPE' })) },
  }
  aWorker(refusing, mailChannel)
  await app.tx((tx) => enqueueMails(tx, app, orgId, [{ ...A_MAIL, type: 'a.type' }]))
  const lost = () => t.logLines.filter(({ level, type }) => level === 'error' && type === 'a.type')
  await waitFor('the line', () => lost().length > 0)
  expect(lost()).toMatchObject([{ org_id: orgId, error_code: 'EENVELOPE' }])
  // The line is written just before the row is.
  const one = await waitFor('the end', async () => (await mailsOf(orgId)).find(({ state }) => state === 'failed'))
  expect(one).toMatchObject({ state: 'failed', attempt: 6 })
  expect(JSON.stringify(lost())).not.toContain('ada@')
})

test('a mail that takes too long is ended', async () => {
  const orgId = await anOrg(app)
  const signals: (AbortSignal | undefined)[] = []
  const slow: App = {
    ...app,
    mail: {
      send: (_mail, signal) => {
        signals.push(signal)
        return new Promise(() => {})
      },
    },
  }
  aWorker(slow, { ...mailChannel, timeoutMs: 20 })
  await app.tx((tx) => enqueueMails(tx, app, orgId, [A_MAIL]))
  await waitFor('the end', () => signals[0]?.aborted)
})

test('the lane of an organisation is always the same, and a UUID', () => {
  const orgId = newId()
  expect(mailLaneId(orgId)).toBe(mailLaneId(orgId))
  expect(mailLaneId(orgId)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(mailLaneId(orgId)).not.toBe(mailLaneId(newId()))
})
