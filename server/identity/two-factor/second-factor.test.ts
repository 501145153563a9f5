import { describe, expect, test } from 'vitest'
import { aCaller, aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { enrol, type AuthenticatorApp } from '#test/kit/two-factor.ts'
import { flushDenials } from '../../history/audit/denials.ts'
import { logIn } from '../accounts/log-in.ts'
import type { App } from '../../platform/context/app.ts'
import { readTwoFactor } from './set-up-two-factor.ts'

const t = await testApp()
const { app } = t
const STEP_MS = 30_000

let networks = 0
/** A client from a network that no other test uses. */
const fromAnywhere = () => aCaller({ ip: `198.18.${networks++ % 250}.1` })

const attempt = ({ email, password }: Person, totpToken?: string, on: App = app) =>
  logIn(on, { email, password, totpToken }, fromAnywhere())

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (result) => (result === null ? 'asked' : 'ok'),
    (error: { code?: string }) => error.code ?? 'another error',
  )

/** The code of a step, counted from now. */
const codeAt = (phone: AuthenticatorApp, steps: number) =>
  phone.code(new Date(t.clock.now().getTime() + steps * STEP_MS))

describe('a log-in with the right password', () => {
  test('is asked for a code, begins no session, and counts nothing', async () => {
    const { person } = await enrol(app, await aPerson(app))
    for (let i = 0; i < 12; i++) expect(await attempt(person)).toBeNull()
    expect(await attempt(person, '')).toBeNull()
    expect(await attempt(person, '  ')).toBeNull()
    const sessions = await app.db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', person.actor.userId)
      .where('ended_at', 'is', null)
      .execute()
    expect(sessions).toEqual([{ id: person.actor.sessionId }])
  })

  test('takes the code of the step before, of now and of the next one, and no other', async () => {
    const { person, phone } = await enrol(app, await aPerson(app))
    t.clock.advance(10 * STEP_MS)
    const results = []
    for (const steps of [-2, 2, -1, 0, 1]) results.push(await outcome(attempt(person, codeAt(phone, steps))))
    expect(results).toEqual(['unauthenticated', 'unauthenticated', 'ok', 'ok', 'ok'])
  })

  test('takes a code once, and no earlier one after it', async () => {
    const { person, phone } = await enrol(app, await aPerson(app))
    t.clock.advance(10 * STEP_MS)
    expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('ok')
    expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('unauthenticated')
    expect(await outcome(attempt(person, codeAt(phone, -1)))).toBe('unauthenticated')
    t.clock.advance(STEP_MS)
    expect(await outcome(attempt(person, codeAt(phone, -1)))).toBe('unauthenticated')
    expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('ok')
  })

  test('takes the code of the setup once, and no earlier one', async () => {
    const { person, phone } = await enrol(app, await aPerson(app))
    expect(await outcome(attempt(person, codeAt(phone, -1)))).toBe('unauthenticated')
    expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('ok')
    expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('unauthenticated')
  })

  test('does not take the code of the setup with TOTP_STRICT', async () => {
    const strict: App = { ...app, config: { ...app.config, totpStrict: true } }
    const { person, phone } = await enrol(strict, await aPerson(app))
    expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('unauthenticated')
    t.clock.advance(STEP_MS)
    expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('ok')
  })

  test('reads no code where the password is wrong', async () => {
    const { person, phone } = await enrol(app, await aPerson(app))
    t.clock.advance(STEP_MS)
    const wrong = { ...person, password: 'not the password' }
    expect(await outcome(attempt(wrong, codeAt(phone, 0)))).toBe('unauthenticated')
    expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('ok')
  })

  test('with a phone ten minutes off is refused with a hint at its clock', async () => {
    const { person, phone } = await enrol(app, await aPerson(app))
    const refusal = attempt(person, codeAt(phone, 20))
    await expect(refusal).rejects.toMatchObject({ message: expect.stringContaining('check the time') as unknown })
  })

  test('of a user without two-factor authentication ignores a code', async () => {
    expect(await outcome(attempt(await aPerson(app), '123456'))).toBe('ok')
  })

  test('of a user with another factor is not helped by its codes', async () => {
    const mine = await enrol(app, await aPerson(app))
    const theirs = await enrol(app, await aPerson(app))
    t.clock.advance(STEP_MS)
    expect(await outcome(attempt(mine.person, codeAt(theirs.phone, 0)))).toBe('unauthenticated')
    expect(await outcome(attempt(mine.person, theirs.backupCodes[0]))).toBe('unauthenticated')
  })
})

describe('a backup code', () => {
  test('replaces a code once, in any case and with a hyphen, and is recorded in every organisation', async () => {
    const { person, backupCodes } = await enrol(app, await aPerson(app))
    const elsewhere = await aMembership(app, person)
    const [code = ''] = backupCodes
    const typed = `${code.slice(0, 5)}-${code.slice(5)}`.toLowerCase()
    expect(await outcome(attempt(person, typed))).toBe('ok')
    expect(await outcome(attempt(person, code))).toBe('unauthenticated')
    expect(await readTwoFactor(app, person.actor)).toMatchObject({ backup_codes_left: 9 })
    for (const { orgId } of [person.actor, elsewhere.actor]) {
      const { rows } = await app.db.query(
        `select target_id, actor_id from audit_log where org_id = $1 and action = 'mfa.backup_code.used'`,
        [orgId],
      )
      expect(rows).toEqual([{ target_id: person.actor.userId, actor_id: person.actor.userId }])
    }
  })

  test('costs one hash to check, however many are left', async () => {
    const { person, backupCodes } = await enrol(app, await aPerson(app))
    let hashes = 0
    const counting: App = {
      ...app,
      passwords: {
        ...app.passwords,
        hashCode: (code, salt) => {
          hashes++
          return app.passwords.hashCode(code, salt)
        },
      },
    }
    expect(await outcome(attempt(person, backupCodes[9], counting))).toBe('ok')
    expect(await outcome(attempt(person, '0000000000', counting))).toBe('unauthenticated')
    expect(hashes).toBe(2)
  })

  test('warns when three, two, one and none are left', async () => {
    const { person, backupCodes } = await enrol(app, await aPerson(app))
    const warnings = []
    for (const code of backupCodes) warnings.push((await attempt(person, code))?.warning ?? null)
    expect(warnings).toEqual([
      ...Array.from({ length: 6 }, () => null),
      'You have 3 backup codes left. Create new ones.',
      'You have 2 backup codes left. Create new ones.',
      'You have 1 backup code left. Create new ones.',
      'This was your last backup code. Create new ones.',
    ])
  })

  test('does not count when the queue for hashing is full', async () => {
    const { person, backupCodes } = await enrol(app, await aPerson(app))
    const busy: App = { ...app, passwords: { ...app.passwords, hashCode: () => Promise.reject(new Error('busy')) } }
    for (let i = 0; i < 12; i++) await expect(attempt(person, backupCodes[0], busy)).rejects.toThrow('busy')
    expect(await outcome(attempt(person, backupCodes[0]))).toBe('ok')
  })
})

describe('limits', () => {
  test('ten wrong codes, then 429 from every network, one mail, and entries of the log', async () => {
    const { person, phone, backupCodes } = await enrol(app, await aPerson(app))
    t.clock.advance(10 * STEP_MS)
    for (let i = 0; i < 10; i++)
      expect(await outcome(attempt(person, ['000000', 'nonsense', '0000000000'][i % 3]))).toBe('unauthenticated')
    for (const token of ['000000', codeAt(phone, 0), backupCodes[0]])
      expect(await outcome(attempt(person, token))).toBe('rate_limited')
    expect(await attempt(person)).toBeNull()
    await flushDenials(app)
    const { rows } = await app.db.query<{ action: string; count: number; outcome: string; target_id: string | null }>(
      `select action, outcome, target_id, sum((meta::json->>'count')::int)::int as count from audit_log
       where org_id = $1 and action in ('mfa.failed', 'ratelimit.exceeded') group by 1, 2, 3 order by 1`,
      [person.actor.orgId],
    )
    expect(rows).toEqual([
      { action: 'mfa.failed', outcome: 'failed', target_id: person.actor.userId, count: 10 },
      { action: 'ratelimit.exceeded', outcome: 'denied', target_id: person.actor.userId, count: 3 },
    ])
    const { rows: mails } = await app.db.query(
      `select type from outbox_messages where user_id = $1 and type = 'mfa.failed'`,
      [person.actor.userId],
    )
    expect(mails).toEqual([{ type: 'mfa.failed' }])
    t.clock.advance(15 * 60_000)
    expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('ok')
  })

  test('right codes do not count', async () => {
    const { person, phone } = await enrol(app, await aPerson(app))
    for (let i = 0; i < 12; i++) {
      t.clock.advance(STEP_MS)
      expect(await outcome(attempt(person, codeAt(phone, 0)))).toBe('ok')
    }
  })

  test('fifty wrong codes at once are checked ten times', async () => {
    const { person } = await enrol(app, await aPerson(app))
    let hashes = 0
    const counting: App = {
      ...app,
      passwords: {
        ...app.passwords,
        hashCode: (code, salt) => {
          hashes++
          return app.passwords.hashCode(code, salt)
        },
      },
    }
    const results = await Promise.all(
      Array.from({ length: 50 }, () => outcome(attempt(person, '0000000000', counting))),
    )
    expect(hashes).toBe(10)
    expect(results.filter((result) => result === 'unauthenticated')).toHaveLength(10)
    expect(results.filter((result) => result === 'rate_limited')).toHaveLength(40)
  })
})

test('a log-in that was checked before the user turned it on does not begin a session', async () => {
  const person = await aPerson(app)
  let turnsOn = true
  const racing: App = {
    ...app,
    tx: async (work) => {
      if (turnsOn) {
        turnsOn = false
        await enrol(app, person)
      }
      return app.tx(work)
    },
  }
  expect(await outcome(attempt(person, undefined, racing))).toBe('unauthenticated')
  expect(turnsOn).toBe(false)
})
