import { Secret } from 'otpauth'
import { expect, test } from 'vitest'
import { client, type Client } from '#test/kit/client.ts'
import { everythingStored } from '#test/kit/everything-stored.ts'
import { testServer } from '#test/kit/test-server.ts'
import { authenticatorApp } from '#test/kit/two-factor.ts'
import { flushDenials } from '../../history/audit/denials.ts'

/** Two-factor authentication as a browser sees it, and where its secrets are not. */

const t = await testServer()
const STEP_MS = 30_000

type Setup = { otpauthUrl: string; backupCodes: string[] }

async function turnOn(owner: Client) {
  const setup = await owner.post('/api/auth/2fa/setup')
  expect(setup.status).toBe(200)
  const { otpauthUrl, backupCodes } = setup.as<Setup>()
  const phone = authenticatorApp(t.app, otpauthUrl)
  const before = new Map(owner.cookies)
  const verified = await owner.post('/api/auth/2fa/verify', { token: phone.code() })
  expect([verified.status, verified.body]).toEqual([200, { ok: true }])
  for (const name of ['svc_access', 'svc_refresh']) expect(owner.cookies.get(name)).not.toBe(before.get(name))
  return { phone, otpauthUrl, backupCodes, before }
}

test('from setup to log-in: the old cookies end, the new ones work, and a log-in without code sets none', async () => {
  const owner = await t.founder()
  const { phone, before, backupCodes } = await turnOn(owner)
  const old = client(t.url)
  for (const [name, value] of before) old.cookies.set(name, value)
  expect((await old.get('/api/me')).status).toBe(401)
  expect((await owner.get('/api/me')).status).toBe(200)
  expect((await owner.get('/api/auth/2fa')).body).toMatchObject({ enabled: true, backup_codes_left: 10 })

  const { email, password } = owner
  const browser = client(t.url)
  const asked = await browser.post('/api/auth/login', { email, password })
  expect([asked.status, asked.body, asked.headers.getSetCookie()]).toEqual([200, { totp_required: true }, []])
  const wrong = await browser.post('/api/auth/login', { email, password, totpToken: '000000' })
  expect([wrong.status, Object.keys(wrong.body), wrong.headers.getSetCookie()]).toEqual([401, ['error'], []])
  const right = await browser.post('/api/auth/login', { email, password, totpToken: phone.code() })
  expect([right.status, right.body]).toEqual([200, { ok: true, org: expect.any(String) as unknown, role: 'owner' }])
  expect((await browser.get('/api/me')).status).toBe(200)

  const another = client(t.url)
  const byBackup = await another.post('/api/auth/login', { email, password, totpToken: backupCodes[3] })
  expect(byBackup.status).toBe(200)
  const disabled = await another.post('/api/auth/2fa/disable', { password })
  expect([disabled.status, disabled.body]).toEqual([200, { ok: true }])
  expect((await another.get('/api/me')).status).toBe(200)
  expect((await browser.get('/api/me')).status).toBe(401)
  expect((await client(t.url).post('/api/auth/login', { email, password })).body).toMatchObject({ ok: true })
})

test('after ten wrong codes the answer is 429 and says when to try again', async () => {
  const owner = await t.founder()
  await turnOn(owner)
  const { email, password } = owner
  const statuses = []
  let last = await owner.get('/api/auth/2fa')
  for (let i = 0; i < 11; i++) {
    last = await client(t.url).post('/api/auth/login', { email, password, totpToken: '000000' })
    statuses.push(last.status)
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429])
  expect(last.headers.get('retry-after')).toBe('900')
  expect(last.headers.get('ratelimit-policy')).toBe('"totp";q=10;w=900')
})

test('T-34: no secret of it is stored, logged, mailed or answered a second time', async () => {
  const owner = await t.founder()
  const { phone, otpauthUrl, backupCodes } = await turnOn(owner)
  const { email, password } = owner
  t.clock.advance(STEP_MS)
  const used = phone.code()
  const answers = [
    await client(t.url).post('/api/auth/login', { email, password, totpToken: used }),
    await client(t.url).post('/api/auth/login', { email, password, totpToken: used }),
    await client(t.url).post('/api/auth/login', { email, password, totpToken: backupCodes[0] }),
    await client(t.url).post('/api/auth/login', { email, password, totpToken: backupCodes[0] }),
    await owner.get('/api/auth/2fa'),
    await owner.post('/api/auth/2fa/setup', {}),
    await owner.get('/api/audit-log'),
  ]
  await flushDenials(t.app)
  const secret = new URL(otpauthUrl).searchParams.get('secret') ?? ''
  const bytes = Buffer.from(Secret.fromBase32(secret).bytes)
  const secrets = [secret, bytes.toString('hex'), bytes.toString('base64'), bytes.toString('latin1'), ...backupCodes]
  expect(bytes).toHaveLength(20)
  const places = {
    database: await everythingStored(t.app.db),
    log: JSON.stringify(t.logLines),
    answers: answers.map(({ text }) => text).join('\n'),
  }
  expect(places.database).toContain(email)
  for (const [place, text] of Object.entries(places))
    for (const one of secrets) expect(text.includes(one), `${place} has a secret`).toBe(false)
})

test('the cookies of sign-ins that are under way are for their routes only, and pages cannot read them', async () => {
  const owner = await t.founder()
  const options = await owner.post('/api/auth/passkeys/login/options')
  expect(options.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^svc_passkey=v1\.[\w.-]+; Max-Age=300; Path=\/api\/auth\/passkeys; HttpOnly; SameSite=Strict$/,
    ),
  ])
})
