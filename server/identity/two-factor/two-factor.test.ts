import { describe, expect, test } from 'vitest'
import { aCaller, aMembership, aPerson, anOrg, type Person } from '#test/kit/members.ts'
import { linkToken } from '#test/kit/queued-mails.ts'
import { testApp } from '#test/kit/test-app.ts'
import { authenticatorApp, enrol } from '#test/kit/two-factor.ts'
import { flushDenials } from '../../history/audit/denials.ts'
import { logIn } from '../accounts/log-in.ts'
import { resetPassword } from '../accounts/reset-password.ts'
import { sendResetLink } from '../accounts/send-reset-link.ts'
import { changePassword } from '../accounts/change-password.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { disableTwoFactor, disableTwoFactorByOperator } from './disable-two-factor.ts'
import { replaceBackupCodes } from './replace-backup-codes.ts'
import { setUpTwoFactor, readTwoFactor } from './set-up-two-factor.ts'
import { readFactor } from './two-factor.queries.ts'
import { verifyTwoFactor } from './verify-two-factor.ts'

const t = await testApp()
const { app } = t
const MINUTE_MS = 60_000

const credentials = ({ email, password }: Person) => ({ email, password })

/** Actions of the audit log of an organisation, oldest first. */
async function actionsOf(orgId: string): Promise<string[]> {
  const { rows } = await app.db.query<{ action: string }>(
    'select action from audit_log where org_id = $1 order by seq',
    [orgId],
  )
  return rows.map((row) => row.action)
}

const sessionsOf = ({ actor }: Person) =>
  app.db
    .selectFrom('sessions')
    .select(['id', 'method', 'end_reason', 'expires_at', 'authenticated_at'])
    .where('user_id', '=', actor.userId)
    .orderBy('id')
    .execute()

const mailsTo = async ({ actor }: Person): Promise<string[]> => {
  const { rows } = await app.db.query<{ type: string }>(
    `select m.type from outbox_messages m join outbox_deliveries d on d.message_id = m.id
     where m.user_id = $1 order by m.created_at, m.id`,
    [actor.userId],
  )
  return rows.map((row) => row.type)
}

describe('the setup', () => {
  test('changes nothing before a code is verified', async () => {
    const person = await aPerson(app)
    const { otpauthUrl, backupCodes } = await setUpTwoFactor(app, person.actor, undefined)
    expect(otpauthUrl).toMatch(/^otpauth:\/\/totp\/Faultline:/)
    expect(backupCodes).toHaveLength(10)
    expect(await readTwoFactor(app, person.actor)).toEqual({ enabled: false, enrolled_at: null, backup_codes_left: 0 })
    expect(await logIn(app, credentials(person), aCaller())).toMatchObject({ role: 'owner' })
    expect(await actionsOf(person.actor.orgId)).toEqual(['signin.password.ok', 'device.new'])
  })

  test('replaces one that was not verified: its code and its backup codes are those of another secret', async () => {
    const person = await aPerson(app)
    const first = await setUpTwoFactor(app, person.actor, undefined)
    const second = await setUpTwoFactor(app, person.actor, undefined)
    const code = authenticatorApp(app, first.otpauthUrl).code()
    await expect(verifyTwoFactor(app, person.actor, code)).rejects.toMatchObject({ code: 'invalid' })
    await verifyTwoFactor(app, person.actor, authenticatorApp(app, second.otpauthUrl).code())
    const [old = ''] = first.backupCodes
    await expect(logIn(app, { ...credentials(person), totpToken: old }, aCaller())).rejects.toMatchObject({
      code: 'unauthenticated',
    })
  })

  test('needs a log-in of the last 15 minutes, or the password', async () => {
    const person = await aPerson(app)
    t.clock.advance(15 * MINUTE_MS)
    await expect(setUpTwoFactor(app, person.actor, undefined)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(setUpTwoFactor(app, person.actor, 'wrong password')).rejects.toMatchObject({ code: 'invalid' })
    await expect(setUpTwoFactor(app, person.actor, person.password)).resolves.toMatchObject({
      backupCodes: expect.any(Array) as unknown,
    })
  })

  test('is refused while it is on, and leaves the app as it is', async () => {
    const { person, phone } = await enrol(app, await aPerson(app))
    await expect(setUpTwoFactor(app, person.actor, undefined)).rejects.toMatchObject({ code: 'conflict' })
    const loggedIn = logIn(app, { ...credentials(person), totpToken: phone.code() }, aCaller())
    await expect(loggedIn).resolves.toMatchObject({ role: 'owner' })
  })
})

describe('verifying', () => {
  test('turns it on, ends every session, starts one that ends when the old one would have, and says so everywhere', async () => {
    const one = await aPerson(app)
    const elsewhere = await aMembership(app, one, { org: await anOrg(app, 'Elsewhere') })
    const before = await sessionsOf(one)
    t.clock.advance(MINUTE_MS)
    const { person } = await enrol(app, one)
    expect(await readTwoFactor(app, person.actor)).toEqual({
      enabled: true,
      enrolled_at: t.clock.now().toISOString(),
      backup_codes_left: 10,
    })
    const after = await sessionsOf(one)
    expect(after.map(({ end_reason }) => end_reason)).toEqual(['two_factor_changed', 'two_factor_changed', null])
    expect(after[2]).toMatchObject({
      id: person.actor.sessionId,
      method: 'password',
      expires_at: before[0]?.expires_at,
      authenticated_at: before[0]?.authenticated_at,
    })
    expect(await actionsOf(one.actor.orgId)).toEqual([
      'mfa.totp.enrolled',
      'mfa.backup_codes.generated',
      'session.revoked',
    ])
    expect(await actionsOf(elsewhere.actor.orgId)).toEqual([
      'mfa.totp.enrolled',
      'mfa.backup_codes.generated',
      'session.revoked',
    ])
    expect(await mailsTo(person)).toEqual(['mfa.totp.enrolled'])
  })

  test('needs a setup, and happens once', async () => {
    const person = await aPerson(app)
    await expect(verifyTwoFactor(app, person.actor, '123456')).rejects.toMatchObject({ code: 'conflict' })
    const { person: enrolled, phone } = await enrol(app, person)
    await expect(verifyTwoFactor(app, enrolled.actor, phone.code())).rejects.toMatchObject({ code: 'conflict' })
  })

  test('takes no backup code', async () => {
    const person = await aPerson(app)
    const { backupCodes } = await setUpTwoFactor(app, person.actor, undefined)
    const [code = ''] = backupCodes
    await expect(verifyTwoFactor(app, person.actor, code)).rejects.toMatchObject({ code: 'invalid' })
  })

  test('twenty times at once turns it on once', async () => {
    const person = await aPerson(app)
    const { otpauthUrl } = await setUpTwoFactor(app, person.actor, undefined)
    const code = authenticatorApp(app, otpauthUrl).code()
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => verifyTwoFactor(app, person.actor, code)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await sessionsOf(person)).filter(({ end_reason }) => end_reason === null)).toHaveLength(1)
    expect(await actionsOf(person.actor.orgId)).toHaveLength(3)
  })

  test('after ten wrong codes it is 429 for the rest of 15 minutes, the count is of the account, and the log names the member', async () => {
    const person = await aPerson(app)
    const { otpauthUrl } = await setUpTwoFactor(app, person.actor, undefined)
    const phone = authenticatorApp(app, otpauthUrl)
    for (let i = 0; i < 10; i++)
      await expect(verifyTwoFactor(app, person.actor, '000000')).rejects.toMatchObject({ code: 'invalid' })
    const refusal: unknown = await verifyTwoFactor(app, person.actor, phone.code()).catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      code: 'rate_limited',
      details: { headers: { 'ratelimit-policy': '"totp";q=10;w=900', ratelimit: '"totp";r=0;t=900' } },
    })
    await flushDenials(app)
    const { rows } = await app.db.query<{ action: string; outcome: string; actor_id: string; target_id: string }>(
      'select action, outcome, actor_id, target_id from audit_log where org_id = $1 order by action',
      [person.actor.orgId],
    )
    const { userId } = person.actor
    expect(rows).toEqual([
      { action: 'mfa.failed', outcome: 'failed', actor_id: userId, target_id: userId },
      { action: 'ratelimit.exceeded', outcome: 'denied', actor_id: userId, target_id: null },
    ])
    t.clock.advance(15 * MINUTE_MS)
    await verifyTwoFactor(app, person.actor, phone.code())
  })

  test('is refused to a session that ended meanwhile', async () => {
    const person = await aPerson(app)
    const { otpauthUrl } = await setUpTwoFactor(app, person.actor, undefined)
    await changePassword(app, person.actor, { currentPassword: person.password, newPassword: 'a different good one' })
    const code = authenticatorApp(app, otpauthUrl).code()
    await expect(verifyTwoFactor(app, person.actor, code)).rejects.toMatchObject({ code: 'unauthenticated' })
    expect(await readTwoFactor(app, person.actor)).toMatchObject({ enabled: false })
  })
})

describe('disabling', () => {
  test('needs the password, however recent the log-in', async () => {
    const { person } = await enrol(app, await aPerson(app))
    await expect(disableTwoFactor(app, person.actor, undefined)).rejects.toMatchObject({
      code: 'invalid',
      message: 'password must be sent.',
    })
    await expect(disableTwoFactor(app, person.actor, 'wrong password')).rejects.toMatchObject({ code: 'invalid' })
    expect(await readTwoFactor(app, person.actor)).toMatchObject({ enabled: true })
  })

  test('ends every session, starts one, and the password alone logs in again', async () => {
    const { person } = await enrol(app, await aPerson(app))
    expect(await logIn(app, credentials(person), aCaller())).toBeNull()
    const factor = await readFactor(app.db, person.actor.userId)
    await disableTwoFactor(app, person.actor, person.password)
    expect((await sessionsOf(person)).map(({ end_reason }) => end_reason)).toEqual([
      'two_factor_changed',
      'two_factor_changed',
      null,
    ])
    expect(await logIn(app, credentials(person), aCaller())).toMatchObject({ role: 'owner' })
    expect((await actionsOf(person.actor.orgId)).slice(3)).toEqual([
      'mfa.totp.disabled',
      'session.revoked',
      'signin.password.ok',
      'device.new',
    ])
    expect(await mailsTo(person)).toEqual(['mfa.totp.enrolled', 'mfa.totp.disabled'])
    const { rows } = await app.db.query('select 1 from backup_codes where factor_id = $1', [factor?.id])
    expect(rows).toEqual([])
  })

  test('is 409 while it is off, also with a setup that was not verified', async () => {
    const person = await aPerson(app)
    await setUpTwoFactor(app, person.actor, undefined)
    await expect(disableTwoFactor(app, person.actor, person.password)).rejects.toMatchObject({ code: 'conflict' })
    await expect(replaceBackupCodes(app, person.actor, person.password)).rejects.toMatchObject({ code: 'conflict' })
  })

  test('asks users without a password for a recent log-in', async () => {
    const { person } = await enrol(app, await aPerson(app))
    await app.db.updateTable('users').set({ password_hash: null }).where('id', '=', person.actor.userId).execute()
    t.clock.advance(15 * MINUTE_MS)
    await expect(disableTwoFactor(app, person.actor, undefined)).rejects.toMatchObject({ code: 'forbidden' })
    t.clock.advance(-MINUTE_MS)
    await disableTwoFactor(app, person.actor, undefined)
    expect(await readTwoFactor(app, person.actor)).toMatchObject({ enabled: false })
  })

  test('by the operator ends every session and writes it to the log as the system', async () => {
    const { person } = await enrol(app, await aPerson(app))
    expect(await disableTwoFactorByOperator(app, person.actor.userId)).toEqual({ ended: 1 })
    expect(await readTwoFactor(app, person.actor)).toMatchObject({ enabled: false })
    const { rows } = await app.db.query<{ action: string; actor_type: string; target_id: string }>(
      'select action, actor_type, target_id from audit_log where org_id = $1 order by seq offset 3',
      [person.actor.orgId],
    )
    expect(rows).toEqual([
      { action: 'mfa.totp.disabled', actor_type: 'system', target_id: person.actor.userId },
      { action: 'session.revoked', actor_type: 'system', target_id: person.actor.sessionId },
    ])
    expect(await mailsTo(person)).toEqual(['mfa.totp.enrolled', 'mfa.totp.disabled'])
    await expect(disableTwoFactorByOperator(app, person.actor.userId)).rejects.toMatchObject({ code: 'conflict' })
    await expect(disableTwoFactorByOperator(app, newId())).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('new backup codes replace all old ones, and need the password', async () => {
  const { person, backupCodes } = await enrol(app, await aPerson(app))
  const [old = ''] = backupCodes
  await expect(replaceBackupCodes(app, person.actor, undefined)).rejects.toMatchObject({ code: 'invalid' })
  const codes = await replaceBackupCodes(app, person.actor, person.password)
  expect(codes).toHaveLength(10)
  const refused = logIn(app, { ...credentials(person), totpToken: old }, aCaller())
  await expect(refused).rejects.toMatchObject({ code: 'unauthenticated' })
  const accepted = logIn(app, { ...credentials(person), totpToken: codes[0] ?? '' }, aCaller())
  await expect(accepted).resolves.toMatchObject({ role: 'owner' })
  expect(await readTwoFactor(app, person.actor)).toMatchObject({ backup_codes_left: 9 })
  expect(await mailsTo(person)).toEqual(['mfa.totp.enrolled', 'mfa.backup_codes.generated', 'mfa.backup_code.used'])
})

test('changing the password leaves it on', async () => {
  const { person } = await enrol(app, await aPerson(app))
  const newPassword = 'a different good password'
  await changePassword(app, person.actor, { currentPassword: person.password, newPassword })
  expect(await logIn(app, { email: person.email, password: newPassword }, aCaller())).toBeNull()
})

test('a new password by a mail leaves it on, and its backup codes too', async () => {
  const { person, backupCodes } = await enrol(app, await aPerson(app))
  await sendResetLink(app, person.email, aCaller())
  const token = await linkToken(app, person.email)
  const password = 'a different good password'
  await resetPassword(app, { token, password }, aCaller())
  expect(await logIn(app, { email: person.email, password }, aCaller())).toBeNull()
  const withCode = logIn(app, { email: person.email, password, totpToken: backupCodes[0] }, aCaller())
  await expect(withCode).resolves.toMatchObject({ role: 'owner' })
})
