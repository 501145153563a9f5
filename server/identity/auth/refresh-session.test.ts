import { describe, expect, test } from 'vitest'
import { aCaller, aPerson, type Person } from '#test/kit/members.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { App } from '../../platform/context/app.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { createAuthenticator } from './authenticate.ts'
import { logOut } from './log-out.ts'
import { parseRefreshToken } from './refresh-token.ts'
import { refreshSession } from './refresh-session.ts'

const t = await testApp({ realTime: true })
const second = await secondApp(t)

/** Why a refresh is refused, as the dashboard reads it. */
const refusalOf = (token: string) =>
  refresh(token).then(
    () => null,
    (error: unknown) => (error instanceof AppError ? (error.details.headers?.['svc-session-ended'] ?? '') : error),
  )

const refresh = (token: string | null, app: App = t.app) => refreshSession(app, token, aCaller())

const sessionOf = (person: Person) =>
  t.app.db.selectFrom('sessions').selectAll().where('id', '=', person.actor.sessionId).executeTakeFirstOrThrow()

const theftsOf = (person: Person) =>
  t.logLines.filter((line) => line['msg'] === 'session.theft_detected' && line['session_id'] === person.actor.sessionId)

async function expectDead(person: Person, ...refreshTokens: string[]): Promise<void> {
  for (const token of refreshTokens) await expect(refresh(token)).rejects.toMatchObject({ code: 'unauthenticated' })
  const authenticator = createAuthenticator(t.app)
  await expect(
    authenticator.authenticate({ authorization: null, accessToken: person.tokens.accessToken }, aCaller()),
  ).rejects.toMatchObject({ code: 'unauthenticated' })
  authenticator.close()
}

test('a refresh returns the next tokens of the same session', async () => {
  const person = await aPerson(t.app)
  const tokens = await refresh(person.tokens.refreshToken)
  expect(parseRefreshToken(tokens.refreshToken)).toMatchObject({ sessionId: person.actor.sessionId, counter: 1 })
  expect(tokens.refreshLifeSeconds).toBeGreaterThanOrEqual(7 * 86_400 - 1)
  expect(tokens.accessToken).not.toBe(person.tokens.accessToken)
  expect(parseRefreshToken((await refresh(tokens.refreshToken)).refreshToken)).toMatchObject({ counter: 2 })
})

/** Fifty calls on a busy machine queue for the row for longer than the overlap lasts by default. */
const patient = ({ config, ...app }: App): App => ({ ...app, config: { ...config, refreshOverlapMs: 1_500 } })

describe('fifty parallel refreshes with one token', () => {
  test.each([
    ['in one process', 10, [t.app]],
    ['in two processes', 5, [patient(t.app), patient(second)]],
    // The calls share no memory: only the database shows that they belong together.
    ['each in a separate process', 3, Array.from({ length: 50 }, (_, i) => patient(i % 2 === 0 ? t.app : second))],
  ] as const)('%s: one successor, no theft, %i rounds', async (_name, rounds, apps) => {
    const person = await aPerson(t.app)
    let token = person.tokens.refreshToken
    for (let round = 1; round <= rounds; round++) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => refresh(token, apps[i % apps.length] ?? t.app)),
      )
      expect(new Set(answers.map((answer) => answer.refreshToken)).size).toBe(1)
      token = answers[0]?.refreshToken ?? ''
      expect((await sessionOf(person)).counter).toBe(round)
    }
    expect(theftsOf(person)).toEqual([])
  })
})

describe('a token that is used again after its response', () => {
  test.each([
    ['in the same process', t.app],
    ['in another process', second],
  ] as const)('%s: 401, the family is dead, one theft', async (_name, other) => {
    const person = await aPerson(t.app)
    const successor = await refresh(person.tokens.refreshToken)
    await expect(refresh(person.tokens.refreshToken, other)).rejects.toMatchObject({ code: 'unauthenticated' })
    await expectDead(person, successor.refreshToken, person.tokens.refreshToken)
    expect(await sessionOf(person)).toMatchObject({ end_reason: 'theft' })
    expect(theftsOf(person)).toHaveLength(1)
  })

  test('forty times immediately: always 401, one theft each', async () => {
    for (let round = 0; round < 40; round++) {
      const person = await aPerson(t.app)
      await refresh(person.tokens.refreshToken)
      const reused = refresh(person.tokens.refreshToken, round % 2 === 0 ? t.app : second)
      await expect(reused).rejects.toMatchObject({ code: 'unauthenticated' })
      expect(theftsOf(person)).toHaveLength(1)
    }
  })

  test('is theft when it is two generations old, also during a rotation', async () => {
    const slow: App = { ...t.app, config: { ...t.app.config, refreshOverlapMs: 2_000 } }
    const person = await aPerson(t.app)
    const first = await refresh(person.tokens.refreshToken)
    const rotating = refresh(first.refreshToken, slow)
    await waitFor('the second rotation', async () => (await sessionOf(person)).counter === 2)
    await expect(refresh(person.tokens.refreshToken, second)).rejects.toMatchObject({ code: 'unauthenticated' })
    expect(theftsOf(person)).toHaveLength(1)
    await expectDead(person, (await rotating).refreshToken)
  })
})

test('every response of a rotation is sent at the end of the hold', async () => {
  const app: App = { ...t.app, config: { ...t.app.config, refreshOverlapMs: 300 } }
  const other: App = { ...second, config: { ...second.config, refreshOverlapMs: 300 } }
  const person = await aPerson(t.app)
  const left: number[] = []
  const startedAt = performance.now()
  const answers = await Promise.all(
    [app, other].map(async (process) => {
      const answer = await refresh(person.tokens.refreshToken, process)
      left.push(performance.now() - startedAt)
      return answer
    }),
  )
  expect(answers[0]?.refreshToken).toBe(answers[1]?.refreshToken)
  const { hold_until } = await sessionOf(person)
  expect(hold_until?.getTime()).toBeLessThanOrEqual(Date.now())
  for (const ms of left) expect(ms).toBeGreaterThanOrEqual(300)
})

test('without an overlap the second of two calls is theft, unless it shares the rotation of the first', async () => {
  const app: App = { ...t.app, config: { ...t.app.config, refreshOverlapMs: 0 } }
  const person = await aPerson(t.app)
  const [a, b] = await Promise.all([refresh(person.tokens.refreshToken, app), refresh(person.tokens.refreshToken, app)])
  expect(a.refreshToken).toBe(b.refreshToken)
  await expect(refresh(person.tokens.refreshToken, app)).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(theftsOf(person)).toHaveLength(1)
})

test.each([
  ['no token', () => null],
  ['nonsense', () => 'rt_nonsense'],
  ['a token of an unknown session', () => `rt_01980000-0000-7000-8000-000000000000.0.${'A'.repeat(43)}`],
  ['a forged counter', (person: Person) => person.tokens.refreshToken.replace('.0.', '.1.')],
  [
    'a forged signature',
    (person: Person) =>
      person.tokens.refreshToken.slice(0, -2) + (person.tokens.refreshToken.endsWith('AA') ? 'QA' : 'AA'),
  ],
])('%s is refused and ends no session', async (_name, forge) => {
  const person = await aPerson(t.app)
  await expect(refresh(forge(person))).rejects.toMatchObject({ code: 'unauthenticated' })
  await expect(refresh(person.tokens.refreshToken)).resolves.toBeDefined()
})

test('a disabled user gets no tokens', async () => {
  const person = await aPerson(t.app)
  await t.app.db.updateTable('users').set({ disabled_at: new Date() }).where('id', '=', person.actor.userId).execute()
  await expect(refresh(person.tokens.refreshToken)).rejects.toMatchObject({ code: 'unauthenticated' })
})

describe('lifetimes', () => {
  const later = (ms: number): App => ({
    ...t.app,
    clock: { ...t.app.clock, now: () => new Date(Date.now() + ms) },
  })
  const DAY_MS = 86_400_000

  test('a week without use ends the session', async () => {
    const person = await aPerson(t.app)
    await expect(refresh(person.tokens.refreshToken, later(7 * DAY_MS + 1))).rejects.toMatchObject({
      message: 'This session has expired. Log in again.',
    })
  })

  test('a session in use ends after thirty days, and its cookie not later', async () => {
    const person = await aPerson(t.app)
    let token = person.tokens.refreshToken
    for (const days of [6, 12, 18, 24, 29]) {
      const tokens = await refresh(token, later(days * DAY_MS))
      const lifeDays = tokens.refreshLifeSeconds / 86_400
      expect(lifeDays).toBeLessThanOrEqual(Math.min(7, 30 - days))
      expect(lifeDays).toBeGreaterThan(Math.min(7, 30 - days) - 0.01)
      token = tokens.refreshToken
    }
    await expect(refresh(token, later(30 * DAY_MS))).rejects.toMatchObject({ code: 'unauthenticated' })
  })
})

test('sixty rotations an hour are allowed, and refused ones keep the token valid', async () => {
  const app: App = { ...t.app, config: { ...t.app.config, refreshOverlapMs: 0 } }
  const person = await aPerson(t.app)
  let token = person.tokens.refreshToken
  for (let i = 0; i < 60; i++) token = (await refresh(token, app)).refreshToken
  await expect(refresh(token, app)).rejects.toMatchObject({ code: 'rate_limited' })
  const unlimited: App = { ...app, config: { ...app.config, rateLimitScale: 0 } }
  await expect(refresh(token, unlimited)).resolves.toBeDefined()
})

test('no token survives a log-out in parallel with refreshes', async () => {
  for (let round = 0; round < 20; round++) {
    const person = await aPerson(t.app)
    const { accessToken, refreshToken } = person.tokens
    const [refreshed] = await Promise.allSettled([
      refresh(refreshToken, second),
      logOut(t.app, { accessToken: null, refreshToken }, aCaller()),
    ])
    await expectDead({ ...person, tokens: { ...person.tokens, accessToken } }, refreshToken)
    if (refreshed.status === 'fulfilled')
      await expectDead({ ...person, tokens: refreshed.value }, refreshed.value.refreshToken)
  }
})

test('the holder of an authentic token reads why the session ended, others do not', async () => {
  const thief = await aPerson(t.app)
  const { refreshToken } = await refresh(thief.tokens.refreshToken)
  await refresh(refreshToken)
  expect(await refusalOf(thief.tokens.refreshToken)).toBe('theft')
  expect(await refusalOf(refreshToken)).toBe('theft')
  const person = await aPerson(t.app)
  expect(await refusalOf(`${person.tokens.refreshToken.slice(0, -4)}AAAA`)).toBe('')
  await logOut(t.app, person.tokens, aCaller())
  expect(await refusalOf(person.tokens.refreshToken)).toBe('logout')
})
