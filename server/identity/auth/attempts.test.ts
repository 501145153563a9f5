import { describe, expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { resetAttempts, returnAttempt, LIMITS, takeAttempt } from './attempts.ts'

const t = await testApp()
const MINUTE_MS = 60_000
const far = '192.0.2.1'

const takeLogin = (key: string) => takeAttempt(t.app, LIMITS.loginPair, key, far)

async function allowedOf(key: string, times: number): Promise<number> {
  let allowed = 0
  for (let i = 0; i < times; i++) if ((await takeLogin(key)).allowed) allowed++
  return allowed
}

describe('five log-ins per account and network', () => {
  test('of fifty in parallel exactly five are allowed', async () => {
    const key = newId()
    const attempts = await Promise.all(Array.from({ length: 50 }, () => takeLogin(key)))
    expect(attempts.filter((attempt) => attempt.allowed)).toHaveLength(5)
  })

  test('then blocks of 1, 2, 4, 8, 15, 15 minutes with one attempt between them', async () => {
    const key = newId()
    expect(await allowedOf(key, 5)).toBe(5)
    for (const minutes of [1, 2, 4, 8, 15, 15]) {
      const refused = await takeLogin(key)
      expect(refused).toMatchObject({ allowed: false, refusal: { details: { retryAfterSeconds: minutes * 60 } } })
      t.clock.advance(minutes * MINUTE_MS - 1)
      expect((await takeLogin(key)).allowed).toBe(false)
      t.clock.advance(1)
      expect((await takeLogin(key)).allowed).toBe(true)
    }
  })

  test('refused attempts do not extend a block, and the counter resets one window after it', async () => {
    const key = newId()
    expect(await allowedOf(key, 20)).toBe(5)
    t.clock.advance(16 * MINUTE_MS)
    expect(await allowedOf(key, 20)).toBe(5)
    expect(await takeLogin(key)).toMatchObject({ refusal: { details: { retryAfterSeconds: 60 } } })
  })

  test('the refusal names the wait and the policy', async () => {
    const key = newId()
    await allowedOf(key, 5)
    t.clock.advance(500)
    await takeLogin(key)
    t.clock.advance(10_200)
    const refused = await takeLogin(key)
    expect(refused).toMatchObject({
      allowed: false,
      refusal: {
        code: 'rate_limited',
        message: 'Too many attempts. Try again in 50 s.',
        details: {
          retryAfterSeconds: 50,
          headers: { 'ratelimit-policy': '"login";q=5;w=900', ratelimit: '"login";r=0;t=50' },
        },
      },
    })
  })

  test('returned attempts do not count', async () => {
    const key = newId()
    for (let i = 0; i < 30; i++) {
      const attempt = await takeLogin(key)
      if (!attempt.allowed) throw attempt.refusal
      await returnAttempt(t.app, attempt.taken)
    }
    expect(await allowedOf(key, 20)).toBe(5)
  })

  test('the last returned attempt takes its row along, unless a block is in it', async () => {
    const rows = async (key: string) =>
      (await t.app.db.selectFrom('attempt_counters').select('attempts').where('key', '=', key).execute()).length
    const [key, blocked] = [newId(), newId()]
    const attempts = await Promise.all(Array.from({ length: 5 }, () => takeLogin(key)))
    for (const attempt of attempts) {
      expect(await rows(key)).toBe(1)
      if (attempt.allowed) await returnAttempt(t.app, attempt.taken)
    }
    expect(await rows(key)).toBe(0)
    const taken = await Promise.all(Array.from({ length: 6 }, () => takeLogin(blocked)))
    for (const attempt of taken) if (attempt.allowed) await returnAttempt(t.app, attempt.taken)
    expect(await rows(blocked)).toBe(1)
    expect((await takeLogin(blocked)).allowed).toBe(false)
  })

  test('returning an attempt of an earlier window changes nothing', async () => {
    const key = newId()
    const early = await takeLogin(key)
    t.clock.advance(15 * MINUTE_MS)
    await takeLogin(key)
    if (early.allowed) await returnAttempt(t.app, early.taken)
    expect(await allowedOf(key, 20)).toBe(4)
  })

  test('a reset starts from zero', async () => {
    const key = newId()
    const [attempt] = [await takeLogin(key), await allowedOf(key, 4)]
    if (attempt.allowed) await resetAttempts(t.app, attempt.taken)
    expect(await allowedOf(key, 20)).toBe(5)
  })
})

test('without blocks the refusal lasts until the window ends, and the first one is marked', async () => {
  const key = newId()
  const take = () => takeAttempt(t.app, LIMITS.loginAccount, key, far)
  for (let i = 0; i < 50; i++) expect((await take()).allowed).toBe(true)
  t.clock.advance(20 * MINUTE_MS)
  expect(await take()).toMatchObject({ allowed: false, first: true, refusal: { details: { retryAfterSeconds: 2400 } } })
  expect(await take()).toMatchObject({ allowed: false, first: false })
  t.clock.advance(40 * MINUTE_MS)
  expect((await take()).allowed).toBe(true)
})

test('in relaxed mode limits by address do not apply to loopback clients; limits by account do', async () => {
  const key = newId()
  for (let i = 0; i < 61; i++) expect((await takeAttempt(t.app, LIMITS.signUp, key, '127.0.0.1')).allowed).toBe(true)
  for (let i = 0; i < 5; i++) expect((await takeAttempt(t.app, LIMITS.loginPair, key, '127.0.0.1')).allowed).toBe(true)
  expect((await takeAttempt(t.app, LIMITS.loginPair, key, '127.0.0.1')).allowed).toBe(false)
})

describe('RATE_LIMIT_SCALE', () => {
  test('0 turns all limits off', async () => {
    const app = { ...t.app, config: { ...t.app.config, rateLimitScale: 0 } }
    const key = newId()
    for (let i = 0; i < 70; i++) expect((await takeAttempt(app, LIMITS.loginPair, key, far)).allowed).toBe(true)
    expect(await t.app.db.selectFrom('attempt_counters').selectAll().where('key', '=', key).execute()).toEqual([])
  })

  test('2 doubles the quotas', async () => {
    const app = { ...t.app, config: { ...t.app.config, rateLimitScale: 2 } }
    const key = newId()
    let allowed = 0
    for (let i = 0; i < 20; i++) if ((await takeAttempt(app, LIMITS.loginPair, key, far)).allowed) allowed++
    expect(allowed).toBe(10)
  })
})
