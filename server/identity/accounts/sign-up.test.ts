import { describe, expect, test } from 'vitest'
import { aCaller, GOOD_PASSWORD } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { logInWithPassword as logIn } from '#test/kit/log-in.ts'
import { signUp } from './sign-up.ts'

const t = await testApp()

const input = (over: Partial<Parameters<typeof signUp>[1]> = {}) => ({
  email: `${newId()}@example.com`,
  password: GOOD_PASSWORD,
  name: 'Ada',
  org: 'Acme',
  ...over,
})

const withConfig = (over: Partial<App['config']>): App => ({ ...t.app, config: { ...t.app.config, ...over } })

describe('on an empty installation', () => {
  test('one of many parallel first sign-ups succeeds', async () => {
    const app = withConfig({ signup: 'closed' })
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => signUp(app, input(), aCaller())))
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    expect(results.filter((result) => result.status === 'rejected')).toMatchObject(
      Array.from({ length: 9 }, () => ({ reason: { code: 'forbidden' } })),
    )
  })

  test('the first address needs no proof; those of later sign-ups do', async () => {
    const proved = async (email: string): Promise<boolean> => {
      const row = await t.app.db.selectFrom('users').select('email_proved_at').where('email', '=', email).execute()
      return row[0]?.email_proved_at !== null
    }
    const [first] = await t.app.db.selectFrom('users').select('email').execute()
    const later = input({ email: 'later@example.com' })
    await signUp(t.app, later, aCaller())
    expect(await proved(first?.email ?? '')).toBe(true)
    expect(await proved('later@example.com')).toBe(false)
  })
})

test('creates an owner who can log in', async () => {
  const account = input({ email: 'Ada.Lovelace@Example.COM ', org: 'Shöp & Söhne' })
  expect(await signUp(t.app, account, aCaller())).toEqual({ org: 'shop-sohne', warning: null })
  const { org, role } = await logIn(t.app, { email: 'ada.lovelace@example.com', password: GOOD_PASSWORD }, aCaller())
  expect({ org, role }).toEqual({ org: 'shop-sohne', role: 'owner' })
  const user = await t.app.db
    .selectFrom('users')
    .selectAll()
    .where('email', '=', 'ada.lovelace@example.com')
    .executeTakeFirstOrThrow()
  expect(user.password_hash).toMatch(/^\$argon2id\$/)
  expect(user.password_hash).not.toContain(GOOD_PASSWORD)
})

test('a taken slug gets the next free suffix, also in parallel sign-ups', async () => {
  const slugs = await Promise.all(Array.from({ length: 5 }, () => signUp(t.app, input({ org: 'Globex!' }), aCaller())))
  expect(slugs.map(({ org }) => org).sort()).toEqual(['globex', 'globex-2', 'globex-3', 'globex-4', 'globex-5'])
  expect((await signUp(t.app, input({ org: '商店' }), aCaller())).org).toBe('org')
})

test('a known address, in any case, is a conflict and creates no organisation', async () => {
  const first = input({ org: 'First Ltd' })
  await signUp(t.app, first, aCaller())
  await expect(
    signUp(t.app, input({ email: first.email.toUpperCase(), org: 'Second Ltd' }), aCaller()),
  ).rejects.toMatchObject({ code: 'conflict' })
  expect(await t.app.db.selectFrom('orgs').select('id').where('slug', '=', 'second-ltd').execute()).toEqual([])
})

test.each([
  ['invite', /invitation only/],
  ['closed', /closed/],
] as const)('FAULTLINE_SIGNUP=%s refuses all but the first', async (signup, message) => {
  const app = withConfig({ signup })
  await expect(signUp(app, input(), aCaller())).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringMatching(message) as unknown,
  })
})

describe('passwords', () => {
  test('their length is checked in every mode', async () => {
    await expect(
      signUp(withConfig({ passwordCheck: 'off' }), input({ password: '1234567' }), aCaller()),
    ).rejects.toThrow('password must have at least 8 characters.')
  })

  test('a weak one is refused, warned of or accepted', async () => {
    const weak = () => input({ password: 'password1' })
    await expect(signUp(withConfig({ passwordCheck: 'block' }), weak(), aCaller())).rejects.toMatchObject({
      code: 'invalid',
    })
    expect((await signUp(withConfig({ passwordCheck: 'warn' }), weak(), aCaller())).warning).toMatch('most common')
    expect((await signUp(withConfig({ passwordCheck: 'off' }), weak(), aCaller())).warning).toBeNull()
  })
})

test('sixty sign-ups an hour from one address are allowed', async () => {
  const caller = aCaller({ ip: '203.0.113.7' })
  const results = await Promise.allSettled(
    Array.from({ length: 65 }, () => signUp(t.app, input({ password: 'short' }), caller)),
  )
  const limited = results.filter(
    (result) => result.status === 'rejected' && (result.reason as { code: string }).code === 'rate_limited',
  )
  expect(limited).toHaveLength(5)
})
