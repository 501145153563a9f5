import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { anEvent, envelopeOf } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { publish } from '../../platform/storage/bus.ts'
import { seedProject, testIntake, type TestIntake } from './intake.fixture.ts'

const t = await testApp()
const { app, clock } = t
const intake = await testIntake(app)
t.onClose(() => intake.close())

let projects = 6_000
type Target = { projectId: string; number: number; key: string }

async function aTarget(settings: Record<string, unknown> = {}): Promise<Target> {
  const number = ++projects
  const key = randomBytes(16).toString('hex')
  const { projectId } = await seedProject(app, { number, publicKey: key })
  await app.db.query('update projects set settings = $2 where id = $1', [projectId, settings])
  return { projectId, number, key }
}

const post = ({ number, key }: Target, body: string, to: TestIntake = intake, endpoint = 'envelope') =>
  to.send({ url: `/api/${number}/${endpoint}/?sentry_key=${key}`, body })

const named = (type: string): string => envelopeOf(anEvent({ error: { type } }))

async function outcomesOf({ projectId }: Target, from: TestIntake = intake): Promise<string[]> {
  await from.intake.rejected.flush()
  const { rows } = await app.db.query<{ line: string }>(
    `select category || ' ' || outcome || ' ' || reason || ' ' || quantity as line from outcomes_hourly where project_id = $1 order by 1`,
    [projectId],
  )
  return rows.map(({ line }) => line)
}

afterEach(async () => {
  await app.db.query('truncate spool')
  clock.advance(120_000)
})

describe('flood sampling', () => {
  test('a flood of 3,000 events of one kind does not hide the one event of a new kind', async () => {
    const target = await aTarget()
    const flood = named('Flood')
    const statuses = new Map<number, number>()
    for (let i = 0; i < 3_000; i += 50) {
      for (const { status } of await Promise.all(Array.from({ length: 50 }, () => post(target, flood))))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect(Object.fromEntries(statuses)).toEqual({ 200: 1_000, 429: 2_000 })
    await intake.takeAll()

    const fresh = await post(target, named('Fresh'))
    expect(fresh.status).toBe(200)
    // A limit in the answer would make the SDK drop the next one.
    expect(fresh.headers['x-sentry-rate-limits']).toBeUndefined()
    const [entry] = await intake.takeAll()
    expect(entry?.body.toString()).toContain('Fresh')
    expect((await post(target, flood)).status).toBe(429)
    const again = await Promise.all(Array.from({ length: 6 }, () => post(target, named('Fresh'))))
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429])
    // The store endpoint as well.
    const stored = await post(target, JSON.stringify(anEvent({ message: 'Newer', exception: null })), intake, 'store')
    expect(stored.status).toBe(200)

    expect(await outcomesOf(target)).toEqual(['error rate_limited storm 2003'])
    const { rows } = await app.db.query(
      'select let_through, fingerprints, hour, first_at from flood_sampling_hourly where project_id = $1',
      [target.projectId],
    )
    const at = clock.now()
    expect(rows).toEqual([{ let_through: 6, fingerprints: 2, hour: new Date('2026-11-20T12:00:00Z'), first_at: at }])
  }, 60_000)

  test('does not apply when the project switches it off', async () => {
    const target = await aTarget({ rate_limit_per_minute: 3, spike_protection: false })
    expect((await post(target, named('One'))).status).toBe(200)
    expect((await post(target, named('Two'))).status).toBe(429)
    expect(await outcomesOf(target)).toEqual(['error rate_limited key 1'])
  })
})

describe('the quota of the organisation', () => {
  test('limits events, is announced with its scope, and refused events are counted', async () => {
    const target = await aTarget()
    await app.db.query('update orgs set events_per_day = 2 where id = $1', [target.projectId])
    expect((await post(target, named('One'))).status).toBe(200)
    expect((await post(target, '{}\n{"type":"transaction"}\n{}')).status).toBe(200)
    const refused = await post(target, named('Two'))
    expect(refused.status).toBe(429)
    expect(refused.headers).toMatchObject({
      'x-sentry-rate-limits': '300:error;transaction;security:organization:quota',
      'retry-after': '300',
    })
    expect(refused.text).toContain('quota')
    expect((await post(target, '{"message":"x"}', intake, 'store')).status).toBe(429)
    expect((await post(target, '{}\n{"type":"session"}\n{}\n{"type":"event"}\n{}')).status).toBe(429)
    expect((await post(target, '{}\n{"type":"session"}\n{}')).status).toBe(200)
    expect(await outcomesOf(target)).toEqual(['error rate_limited organization 2'])
    // Digestion counts the dropped items of a stored envelope.
    expect((await intake.takeAll()).flatMap(({ dropped }) => dropped)).toEqual([{ index: 1, reason: 'quota' }])
    await app.db.query('update orgs set events_per_day = null where id = $1', [target.projectId])
    await publish(app.db, 'project', { org_id: target.projectId })
    await waitFor('the change to apply', async () => (await post(target, named('Three'))).status === 200)
  })
})

describe('containers', () => {
  test('count by their entries; one that reaches the limit is accepted, and the limit is announced', async () => {
    const target = await aTarget({ rate_limit_per_minute: 30 })
    const logs = (count: number) => {
      const payload = JSON.stringify({ items: Array.from({ length: count }, () => ({ body: 'x' })) })
      return `{}\n{"type":"log","item_count":${count},"length":${payload.length}}\n${payload}\n`
    }
    const first = await post(target, logs(90))
    expect([first.status, first.headers['x-sentry-rate-limits']]).toEqual([200, undefined])
    const last = await post(target, logs(20))
    expect([last.status, last.headers['x-sentry-rate-limits']]).toEqual([200, '10:log_item:key:rate_limit'])
    const refused = await post(target, logs(7))
    expect([refused.status, refused.headers['x-sentry-rate-limits']]).toEqual([429, '10:log_item:key:rate_limit'])
    // A limited category does not limit others.
    expect((await post(target, named('One'))).status).toBe(200)
    expect(await outcomesOf(target)).toEqual(['log_item rate_limited key 7'])
  })
})

describe('admission', () => {
  test('refuses before reading a body while the backlog is full, counts that, and accepts when there is room again', async () => {
    const target = await aTarget()
    const small = await testIntake(app, { spoolLimits: { maxBacklogEntries: 3 } })
    try {
      for (let i = 0; i < 3; i++) expect((await post(target, named('One'), small)).status).toBe(200)
      await waitFor('the backlog to be noticed', () => small.intake.spool.readiness() === 'full')
      const refused = await post(target, named('One'), small)
      expect(refused.status).toBe(429)
      const seconds = Number(refused.headers['retry-after'])
      expect(seconds).toBeGreaterThanOrEqual(5)
      expect(seconds).toBeLessThanOrEqual(10)
      expect(refused.headers['x-sentry-rate-limits']).toBe(`${seconds}::organization:busy`)
      // The refusal arrives before the body is sent, and the connection stays usable for the next request.
      const socket = await small.socket()
      let text = ''
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
      const head = `POST /api/${target.number}/envelope/?sentry_key=${target.key} HTTP/1.1\r\nhost: x\r\ncontent-length: 50000\r\n\r\n`
      socket.write(head)
      await waitFor('the refusal', () => text.includes('HTTP/1.1 429'))
      socket.write('x'.repeat(50_000) + head + 'y'.repeat(50_000))
      await waitFor('the next refusal', () => text.split('HTTP/1.1 429').length === 3)
      expect(text).not.toContain('HTTP/1.1 400')
      socket.destroy()
      expect(await outcomesOf(target, small)).toEqual(['default rate_limited busy 3'])
      await app.db.query('truncate spool')
      await waitFor('room', () => small.intake.spool.readiness() === 'open')
      expect((await post(target, named('One'), small)).status).toBe(200)
    } finally {
      await small.close()
    }
  })
})

test('a project over its share of the backlog is refused while other organisations are accepted', async () => {
  const [flooding, honest] = [await aTarget(), await aTarget()]
  const small = await testIntake(app, { spoolLimits: { maxBacklogEntries: 20 } })
  try {
    for (let i = 0; i < 16; i++) expect((await post(flooding, named('One'), small)).status).toBe(200)
    const { spool } = small.intake
    const owner = { projectNumber: flooding.number, orgId: flooding.projectId }
    await waitFor('the share to be noticed', () => spool.readiness(owner) === 'full')
    expect(spool.readiness()).toBe('open')
    expect((await post(flooding, named('One'), small)).status).toBe(429)
    for (let i = 0; i < 4; i++) expect((await post(honest, named('One'), small)).status).toBe(200)
    expect((await post(flooding, named('One'), small)).status).toBe(429)
    await waitFor('the end of the reserve', () => spool.readiness() === 'full')
    expect((await post(honest, named('One'), small)).status).toBe(429)
    expect(await outcomesOf(flooding, small)).toEqual(['default rate_limited busy 2'])
  } finally {
    await app.db.query('truncate spool')
    await small.close()
  }
})

test('a refusal with a valid key has an outcome, a refusal without one has none', async () => {
  const target = await aTarget()
  const big = `{"message":"${'x'.repeat(1 << 20)}"}`
  expect((await post(target, `{}\n{"type":"event"}\n${big}`)).status).toBe(413)
  expect((await post(target, '{}\n{"type":"event","length":99}\n{}')).status).toBe(400)
  expect((await post(target, `{}\n${'{"type":"x"}\n\n'.repeat(10_001)}`)).status).toBe(413)
  expect((await post(target, 'nope')).status).toBe(400)
  expect((await post({ ...target, key: 'a'.repeat(32) }, named('One'))).status).toBe(403)
  expect(await outcomesOf(target)).toEqual([
    'default invalid envelope 1',
    'default invalid too_large 1',
    'error invalid too_large 1',
  ])
})

test('refusals of the other endpoints have outcomes as well', async () => {
  const target = await aTarget()
  const to = async (endpoint: string, body: Buffer | string, headers: Record<string, string> = {}): Promise<number> =>
    (await intake.send({ url: `/api/${target.number}/${endpoint}/?sentry_key=${target.key}`, body, headers })).status
  const bomb = gzipSync(Buffer.alloc(50 << 20, 0x20))
  const gzip = { 'content-encoding': 'gzip' }
  expect(await to('store', `{"message":"${'x'.repeat(1 << 20)}"}`)).toBe(413)
  expect(await to('store', bomb, gzip)).toBe(413)
  expect(await to('nel', bomb, { ...gzip, 'content-type': 'application/reports+json' })).toBe(413)
  expect(await to('otlp/v1/logs', '{"resourceLogs":[', { 'content-type': 'application/json' })).toBe(400)
  expect(await to('minidump', 'x', { 'content-type': 'multipart/form-data; boundary=y' })).toBe(400)
  // Undecodable bodies have no outcome, as with envelopes.
  expect(await to('store', 'nope!')).toBe(400)
  expect(await to('otlp/v1/logs', 'x', { ...gzip, 'content-type': 'application/json' })).toBe(400)
  expect(await outcomesOf(target)).toEqual(['default invalid envelope 2', 'default invalid too_large 3'])
})
