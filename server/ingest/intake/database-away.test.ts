import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { SAMPLE_KEY } from '#test/kit/samples.ts'
import { Database } from '../../platform/storage/database.ts'
import { createPool } from '../../platform/storage/pool.ts'
import { seedProject, testIntake } from './intake.fixture.ts'

// In a separate file because it makes the database unavailable.
const { app, connectionString, clock, onClose } = await testApp()
await seedProject(app, { number: 4501, publicKey: SAMPLE_KEY, region: 'us-east-1' })

// The intake uses a pool whose address the test can change.
const url = new URL(connectionString)
const pool = createPool({ connectionString, name: 'intake under test', max: 4, onError: () => {} })
const intake = await testIntake({ ...app, db: new Database(pool) })
onClose(async () => {
  await intake.close()
  await pool.end()
})

const anyText: unknown = expect.any(String)
const envelope = '{}\n{"type":"event"}\n{"message":"x"}'
const send = (key: string) => intake.send({ url: `/api/4501/envelope/?sentry_key=${key}`, body: envelope })

test('while the database is unavailable, known keys are checked and nothing is acknowledged; the intake recovers by itself', async () => {
  expect((await send(SAMPLE_KEY)).status).toBe(200)
  expect((await send('a'.repeat(32))).status).toBe(403)
  clock.advance(120_000)

  // New connections fail, existing ones are closed.
  Reflect.set(pool.options, 'connectionString', 'postgres://none@127.0.0.1:1/none')
  await app.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'intake under test'`,
  )

  const refused = await send(SAMPLE_KEY)
  expect(refused.status).toBe(503)
  expect(refused.headers['retry-after']).toBe('5')
  expect(JSON.parse(refused.text)).toEqual({ detail: anyText, error: anyText })
  // A cached key of another project is refused without the database.
  expect((await intake.send({ url: `/api/4502/envelope/?sentry_key=${SAMPLE_KEY}`, body: envelope })).status).toBe(403)
  expect((await send('b'.repeat(32))).status).toBe(503)
  expect((await send(SAMPLE_KEY)).status).toBe(503)

  Reflect.set(pool.options, 'connectionString', url.toString())
  await waitFor('the intake to take events again', async () => (await send(SAMPLE_KEY)).status === 200)
  const { rows } = await app.db.query<{ entries: number }>('select sum(entry_count)::int as entries from spool')
  expect(rows[0]?.entries).toBe(2)
})

test('an installation of one region refuses projects of other regions and says why', async () => {
  const regional = await testIntake({ ...app, config: { ...app.config, region: 'eu-central-1' } })
  const answer = await regional.send({ url: `/api/4501/envelope/?sentry_key=${SAMPLE_KEY}`, body: envelope })
  await regional.close()
  expect(answer.status).toBe(403)
  expect(answer.text).toContain('eu-central-1')
})

test('the limit per client address applies to all categories, with a short wait', async () => {
  const strict = await testIntake({
    ...app,
    config: { ...app.config, mode: 'strict', rateLimitScale: 1 / 12_000, trustedProxies: ['127.0.0.1'] },
  })
  const from = (address: string) =>
    strict.send({ url: '/api/4501/envelope/', headers: { 'x-forwarded-for': address }, body: envelope })
  expect((await from('203.0.113.7')).status).toBe(401)
  const refused = await from('203.0.113.7')
  expect(refused.status).toBe(429)
  const seconds = Number(refused.headers['retry-after'])
  expect(seconds).toBeGreaterThanOrEqual(5)
  expect(seconds).toBeLessThanOrEqual(10)
  expect(refused.headers['x-sentry-rate-limits']).toBe(`${seconds}::key:address_limit`)
  expect((await from('203.0.113.8')).status).toBe(401)
  await strict.close()
})
