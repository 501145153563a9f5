import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { insertMembership, insertUser } from '#server/identity/auth/auth.queries.ts'
import { maySignInByPassword } from '#server/identity/auth/password-policy.ts'
import { requireRecentSignIn } from '#server/identity/auth/require-recent-sign-in.ts'
import { sendResetLink } from '#server/identity/accounts/send-reset-link.ts'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { createAuthenticator } from '#server/identity/auth/authenticate.ts'
import { liveSession } from '#server/identity/auth/session-cache.ts'
import { switchOrg } from '#server/identity/auth/switch-org.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { readAccessToken } from '#server/identity/auth/access-token.ts'
import { createEgress } from '#server/platform/egress/create-egress.ts'
import { parseAddressRange } from '#server/platform/kernel/address-range.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { databaseAddress } from '#server/platform/storage/pool.ts'
import { cookieJar } from '#test/kit/cookie-jar.ts'
import { FAKE_CLIENT, fakeOidc, type Claims } from '#test/kit/fake-oidc.ts'
import { aCaller, aMembership, anOrg, aPerson, type Person } from '#test/kit/members.ts'
import { anSsoOrg, aUserAt, callBack, signInAt, startAt, type SsoOrg } from '#test/kit/sso-world.ts'
import { testServer } from '#test/kit/test-server.ts'
import { insertVerifiedFactor } from '#test/kit/two-factor.ts'
import { visitor, type Visit, type Visitor } from '#test/kit/visitor.ts'
import { replaceBackupCodes } from '../two-factor/replace-backup-codes.ts'
import { readTwoFactor } from '../two-factor/set-up-two-factor.ts'
import { disableTwoFactor } from '../two-factor/disable-two-factor.ts'
import { startPasskeyRegistration } from '../passkeys/register-passkey.ts'
import { finishSso } from './finish-sso.ts'
import { removeSsoConfig, updateSsoConfig } from './update-config.ts'
import { insertIdentity } from './external-identities.queries.ts'
import { startSso } from './start-sso.ts'
import { verifyDomainByOperator } from './verify-domain.ts'

const t = await testServer()
const second = await secondApp(t)
const provider = await fakeOidc(() => t.clock.now())
t.onClose(() => provider.close())

const MINUTE_MS = 60_000
const IN = { status: 302, location: '/' }
const NOT_ALLOWED = { status: 302, location: '/login?error=sso_not_allowed' }

const aMember = (org: SsoOrg, over: Parameters<typeof aPerson>[1] = {}): Promise<Person> =>
  aPerson(t.app, { role: 'member', org: org.org, email: `${newId()}@${org.domain}`, ...over })

/** Who is signed in after a visit. */
async function whoIs({ cookies }: Visit): Promise<{ userId: string; orgId: string; sessionId: string }> {
  const token = cookies.find((line) => line.startsWith('svc_access='))?.split(/[=;]/)[1] ?? ''
  const { sub, org, sid } = await readAccessToken(t.app, token)
  return { userId: sub, orgId: org, sessionId: sid }
}

const actionsOf = async (orgId: string): Promise<string[]> =>
  (await t.app.db.selectFrom('audit_log').select('action').where('org_id', '=', orgId).orderBy('seq').execute()).map(
    ({ action }) => action,
  )

const link = (browser: Visitor, body: Readonly<Record<string, string>>): Promise<Visit> =>
  browser.go(`${t.url}/api/auth/sso/link`, { method: 'POST', body: JSON.stringify(body) })

describe('a user whom the provider names for the first time', () => {
  test('becomes a member with the default role, and is the same user after a change of address and name', async () => {
    const org = await anSsoOrg(t.app, provider, { default_role: 'viewer' })
    const user = aUserAt(org)
    const first = await whoIs(await signInAt(t.url, org, user))
    expect(first.orgId).toBe(org.org.id)
    const row = await t.app.db
      .selectFrom('users as u')
      .innerJoin('memberships as m', 'm.user_id', 'u.id')
      .select(['u.email', 'u.name', 'u.password_hash', 'm.role'])
      .where('u.id', '=', first.userId)
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ email: user['email'], name: 'Grace Hopper', password_hash: null, role: 'viewer' })
    const later = await signInAt(t.url, org, { ...user, email: `boss@${org.domain}`, name: 'The boss' })
    expect((await whoIs(later)).userId).toBe(first.userId)
    const stays = await t.app.db.selectFrom('users').select('email').where('id', '=', first.userId).executeTakeFirst()
    expect(stays).toEqual({ email: user['email'] })
    const actions = await actionsOf(org.org.id)
    expect(actions.filter((action) => action.startsWith('sign'))).toEqual([
      'signup.oidc.ok',
      'signin.oidc.ok',
      'signin.oidc.ok',
    ])
  })

  test('is refused without just-in-time members, also with an open invitation', async () => {
    const org = await anSsoOrg(t.app, provider, { jit: false })
    const user = aUserAt(org)
    const now = t.clock.now()
    const invite = {
      id: newId(),
      org_id: org.org.id,
      email: String(user['email']),
      role: 'admin' as const,
      token_hash: Buffer.from(newId()),
      created_at: now,
      sent_at: now,
      expires_at: new Date(now.getTime() + MINUTE_MS),
    }
    await t.app.db.insertInto('invites').values(invite).execute()
    expect(await signInAt(t.url, org, user)).toMatchObject(NOT_ALLOWED)
    // With them, the invitation does not decide the role.
    await updateSsoConfig(t.app, org.owner.actor, {
      issuer: org.tenant.issuer,
      client_id: FAKE_CLIENT.client_id,
      jit: true,
    })
    const { userId } = await whoIs(await signInAt(t.url, org, user))
    const role = await t.app.db
      .selectFrom('memberships')
      .select('role')
      .where('user_id', '=', userId)
      .executeTakeFirst()
    expect(role).toEqual({ role: 'member' })
  })

  test('is created once by parallel first sign-ins', async () => {
    const org = await anSsoOrg(t.app, provider)
    const user = aUserAt(org)
    const visits = await Promise.all(Array.from({ length: 5 }, () => signInAt(t.url, org, user)))
    const users = await Promise.all(visits.map(async (visit) => (await whoIs(visit)).userId))
    expect(new Set(users).size).toBe(1)
  })

  test('is the one whom another sign-in created a moment before', async () => {
    const org = await anSsoOrg(t.app, provider)
    const user = aUserAt(org)
    const browser = visitor()
    const back = org.tenant.authorize(await startAt(t.url, org, browser), user)
    const now = t.clock.now()
    const userId = newId()
    const { signingIn } = await t.app.tx(async (tx) => {
      // The sign-in finds no identity, then waits for the domain.
      await tx.query('lock table sso_domains in access exclusive mode')
      const visit = callBack(t.url, back, browser)
      const waiting = `select 1 from pg_locks where relation = 'sso_domains'::regclass and not granted`
      await waitFor('the sign-in', async () => (await t.app.db.query(waiting)).rows[0])
      const { email } = z.object({ email: z.string() }).parse(user)
      await insertUser(tx, {
        id: userId,
        email,
        name: 'Grace',
        password_hash: null,
        created_at: now,
        email_proved_at: now,
      })
      await insertMembership(tx, { user_id: userId, org_id: org.org.id, role: 'member', created_at: now })
      const identity = { org_id: org.org.id, issuer: org.tenant.issuer, subject: String(user.sub) }
      await insertIdentity(tx, identity, userId, now)
      return { signingIn: visit }
    })
    expect((await whoIs(await signingIn)).userId).toBe(userId)
  })

  test('may be one whose address only the userinfo endpoint tells', async () => {
    const plan = { claims: ({ email: _email, email_verified: _verified, ...claims }: Claims) => claims }
    const org = await anSsoOrg(t.app, provider, { plan })
    const user = aUserAt(org)
    expect(await signInAt(t.url, org, user)).toMatchObject(IN)
    expect(org.tenant.asked.filter((path) => path === 'userinfo')).toHaveLength(1)
    // Who is known needs no address.
    expect(await signInAt(t.url, org, user)).toMatchObject(IN)
    expect(org.tenant.asked.filter((path) => path === 'userinfo')).toHaveLength(1)
  })
})

describe('an existing account', () => {
  test('of a member is linked by a verified address of a verified domain', async () => {
    const org = await anSsoOrg(t.app, provider, { jit: false })
    const member = await aMember(org)
    const visit = await signInAt(t.url, org, aUserAt(org, { email: member.email.toUpperCase() }))
    expect((await whoIs(visit)).userId).toBe(member.actor.userId)
    expect((await actionsOf(org.org.id)).slice(-3)).toEqual(['identity.linked', 'signin.oidc.ok', 'device.new'])
  })

  test.each([
    ['an address that is not verified', { email_verified: false }, true],
    ['a domain that is not verified', {}, false],
  ])('with %s needs the password, once', async (_name, over, verified) => {
    const org = await anSsoOrg(t.app, provider, { jit: false, verified })
    const member = await aMember(org)
    const user = aUserAt(org, { email: member.email, ...over })
    const browser = visitor()
    expect(await signInAt(t.url, org, user, browser)).toMatchObject({ location: '/login?step=link' })
    expect(await link(browser, { password: 'not the password' })).toMatchObject({ status: 401 })
    expect(await link(visitor(), { password: member.password })).toMatchObject({ status: 400 })
    const linked = await link(browser, { password: member.password })
    expect(JSON.parse(linked.body)).toEqual({ ok: true, org: org.org.slug, role: 'member' })
    expect((await whoIs(linked)).userId).toBe(member.actor.userId)
    expect(await link(browser, { password: member.password })).toMatchObject({ status: 400 })
    expect((await whoIs(await signInAt(t.url, org, user))).userId).toBe(member.actor.userId)
  })

  test('is not handed to another subject that got its address', async () => {
    const org = await anSsoOrg(t.app, provider)
    const member = await aMember(org)
    expect(await signInAt(t.url, org, aUserAt(org, { email: member.email }))).toMatchObject(IN)
    expect(await signInAt(t.url, org, aUserAt(org, { email: member.email }))).toMatchObject({
      location: '/login?step=link',
    })
  })

  test('of another organisation is neither linked nor revealed', async () => {
    const org = await anSsoOrg(t.app, provider, { verified: false })
    const stranger = await aPerson(t.app, { email: `${newId()}@${org.domain}` })
    const before = await actionsOf(stranger.actor.orgId)
    const known = await signInAt(t.url, org, aUserAt(org, { email: stranger.email }))
    const unknown = await signInAt(t.url, org, aUserAt(org))
    expect(known).toMatchObject(NOT_ALLOWED)
    expect(unknown).toMatchObject(NOT_ALLOWED)
    expect(await actionsOf(stranger.actor.orgId)).toEqual(before)
  })

  test('of another organisation joins with its password where the domain is verified', async () => {
    const org = await anSsoOrg(t.app, provider)
    const person = await aPerson(t.app, { email: `${newId()}@${org.domain}` })
    const browser = visitor()
    expect(await signInAt(t.url, org, aUserAt(org, { email: person.email }), browser)).toMatchObject({
      location: '/login?step=link',
    })
    const linked = await link(browser, { password: person.password })
    expect(JSON.parse(linked.body)).toEqual({ ok: true, org: org.org.slug, role: 'member' })
    expect((await whoIs(linked)).orgId).toBe(org.org.id)
  })

  test.each(['user', 'membership'] as const)('whose %s is disabled stays out, linked or not', async (what) => {
    const org = await anSsoOrg(t.app, provider)
    const [linked, other] = [await aMember(org), await aMember(org)]
    const user = aUserAt(org, { email: linked.email })
    expect(await signInAt(t.url, org, user)).toMatchObject(IN)
    for (const { actor } of [linked, other]) {
      const disabled_at = t.clock.now()
      if (what === 'user')
        await t.app.db.updateTable('users').set({ disabled_at }).where('id', '=', actor.userId).execute()
      else await t.app.db.updateTable('memberships').set({ disabled_at }).where('user_id', '=', actor.userId).execute()
    }
    expect(await signInAt(t.url, org, user)).toMatchObject(NOT_ALLOWED)
    expect(await signInAt(t.url, org, aUserAt(org, { email: other.email }))).toMatchObject(NOT_ALLOWED)
  })

  test('with two-factor authentication needs a code, unless the provider checked a factor', async () => {
    const org = await anSsoOrg(t.app, provider)
    const member = await aMember(org)
    const phone = await insertVerifiedFactor(t.app, member)
    const user = aUserAt(org, { email: member.email })
    const browser = visitor()
    const visit = await signInAt(t.url, org, user, browser)
    expect(visit).toMatchObject({ location: '/login?step=code' })
    expect(visit.cookies.filter((line) => line.startsWith('svc_access'))).toEqual([])
    const init = { method: 'POST', body: JSON.stringify({ token: phone.code() }) }
    const continued = await browser.go(`${t.url}/api/auth/2fa/continue`, init)
    expect(await whoIs(continued)).toMatchObject({ userId: member.actor.userId, orgId: org.org.id })
    expect(await signInAt(t.url, org, { ...user, amr: ['pwd', 'mfa'] })).toMatchObject(IN)
    expect(await signInAt(t.url, org, { ...user, amr: ['hwk'] })).toMatchObject(IN)
    expect(await signInAt(t.url, org, { ...user, amr: 'mfa' })).toMatchObject({ location: '/login?step=code' })
  })

  test('whose code is still missing when single sign-on is removed stays out', async () => {
    const org = await anSsoOrg(t.app, provider)
    const member = await aMember(org)
    const phone = await insertVerifiedFactor(t.app, member)
    const browser = visitor()
    await signInAt(t.url, org, aUserAt(org, { email: member.email }), browser)
    await removeSsoConfig(t.app, org.owner.actor)
    const init = { method: 'POST', body: JSON.stringify({ token: phone.code() }) }
    expect(await browser.go(`${t.url}/api/auth/2fa/continue`, init)).toMatchObject({ status: 400, cookies: [] })
  })

  test('with two-factor authentication needs a code to be linked, too, whatever the provider checked', async () => {
    const org = await anSsoOrg(t.app, provider, { verified: false })
    const member = await aMember(org)
    const phone = await insertVerifiedFactor(t.app, member)
    const browser = visitor()
    await signInAt(t.url, org, aUserAt(org, { email: member.email, amr: ['mfa'] }), browser)
    const { password } = member
    expect(JSON.parse((await link(browser, { password })).body)).toEqual({ totp_required: true })
    expect(await link(browser, { password, totpToken: '000000' })).toMatchObject({ status: 401 })
    expect(await link(browser, { password, totpToken: phone.code() })).toMatchObject({ status: 200 })
  })
})

describe('the way to the provider and back', () => {
  test('goes with PKCE, state and nonce of 32 bytes, and a cookie for that path only', async () => {
    const org = await anSsoOrg(t.app, provider)
    const { location, cookies } = await visitor().go(`${t.url}/api/auth/sso/start?org=${org.org.slug}`)
    const sent = Object.fromEntries(new URL(location).searchParams)
    expect(sent).toMatchObject({
      response_type: 'code',
      response_mode: 'query',
      client_id: 'faultline',
      code_challenge_method: 'S256',
      redirect_uri: `${t.app.config.publicUrl}/api/auth/sso/callback`,
    })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(sent[name]).toMatch(/^[\w-]{43}$/)
    expect(cookies).toHaveLength(1)
    expect(cookies[0]).toMatch(/^svc_sso=[\w-]{43}; Max-Age=600; Path=\/api\/auth\/sso; HttpOnly; SameSite=Lax$/)
  })

  test.each([['?org=nowhere'], [''], ['?org='], ['?org=a&org=b']])('begins nowhere with %j', async (query) => {
    const known = await aPerson(t.app)
    for (const asked of [query, `?org=${known.orgSlug}`]) {
      const visit = await visitor().go(`${t.url}/api/auth/sso/start${asked}`)
      expect(visit).toMatchObject({ status: 302, location: '/login?error=sso_unavailable', cookies: [], body: '' })
    }
  })

  test('another site cannot begin it', async () => {
    const org = await anSsoOrg(t.app, provider)
    const headers = { 'sec-fetch-site': 'cross-site' }
    expect(await visitor().go(`${t.url}/api/auth/sso/start?org=${org.org.slug}`, { headers })).toMatchObject({
      status: 403,
    })
  })

  test('of parallel callbacks with one state exactly one succeeds, and none later', async () => {
    const org = await anSsoOrg(t.app, provider)
    const browser = visitor()
    const back = org.tenant.authorize(await startAt(t.url, org, browser), aUserAt(org))
    const cookie = `svc_sso=${browser.cookie(t.url, 'svc_sso') ?? ''}`
    const visits = await Promise.all(
      Array.from({ length: 10 }, () =>
        visitor().go(`${t.url}/api/auth/sso/callback?${back.toString()}`, { headers: { cookie } }),
      ),
    )
    expect(visits.filter(({ location }) => location === '/')).toHaveLength(1)
    expect(visits.filter(({ location }) => location === '/login?error=sso_expired')).toHaveLength(9)
    const replayed = await visitor().go(`${t.url}/api/auth/sso/callback?${back.toString()}`, { headers: { cookie } })
    expect(replayed.location).toBe('/login?error=sso_expired')
  })

  test('ends in the browser that began it, within ten minutes', async () => {
    const org = await anSsoOrg(t.app, provider)
    const [browser, other] = [visitor(), visitor()]
    const back = org.tenant.authorize(await startAt(t.url, org, browser), aUserAt(org))
    await startAt(t.url, org, other)
    for (const elsewhere of [other, visitor()])
      expect(await callBack(t.url, back, elsewhere)).toMatchObject({ location: '/login?error=sso_expired' })
    t.clock.advance(10 * MINUTE_MS)
    expect(await callBack(t.url, back, browser)).toMatchObject({ location: '/login?error=sso_expired' })
  })

  test('two tabs of one browser may both finish', async () => {
    const org = await anSsoOrg(t.app, provider)
    const browser = visitor()
    const [one, two] = [await startAt(t.url, org, browser), await startAt(t.url, org, browser)]
    const cookie = `svc_sso=${browser.cookie(t.url, 'svc_sso') ?? ''}`
    for (const location of [two, one]) {
      const back = org.tenant.authorize(location, aUserAt(org)).toString()
      expect(await visitor().go(`${t.url}/api/auth/sso/callback?${back}`, { headers: { cookie } })).toMatchObject(IN)
    }
  })

  test('does not mix up two organisations and their providers', async () => {
    const [ours, theirs] = [await anSsoOrg(t.app, provider), await anSsoOrg(t.app, provider)]
    const victim = await aMember(ours)
    // Their provider says that it is ours, with the victim's address.
    theirs.tenant.plan({ claims: (claims) => ({ ...claims, iss: ours.tenant.issuer }) })
    const user = aUserAt(ours, { email: victim.email })
    expect(await signInAt(t.url, theirs, user)).toMatchObject({ location: '/login?error=sso_failed' })
    theirs.tenant.plan({})
    expect(await signInAt(t.url, theirs, user)).toMatchObject(NOT_ALLOWED)
    // A code of one provider with the state of the other.
    const browser = visitor()
    const [toOurs, toTheirs] = [await startAt(t.url, ours, browser), await startAt(t.url, theirs, browser)]
    const back = theirs.tenant.authorize(toTheirs, user)
    back.set('state', new URL(toOurs).searchParams.get('state') ?? '')
    for (const iss of [theirs.tenant.issuer, ours.tenant.issuer]) {
      back.set('iss', iss)
      expect((await callBack(t.url, back, browser)).location).toMatch(/error=sso_(failed|expired)$/)
    }
  })

  test('new keys of the provider are read, at most once a minute', async () => {
    const org = await anSsoOrg(t.app, provider)
    const reads = () => org.tenant.asked.filter((path) => path === 'keys').length
    expect(await signInAt(t.url, org, aUserAt(org))).toMatchObject(IN)
    expect(await signInAt(t.url, org, aUserAt(org))).toMatchObject(IN)
    expect(reads()).toBe(1)
    await provider.rotate()
    expect((await signInAt(t.url, org, aUserAt(org))).location).toBe('/login?error=sso_failed')
    expect(reads()).toBe(1)
    t.clock.advance(MINUTE_MS)
    expect(await signInAt(t.url, org, aUserAt(org))).toMatchObject(IN)
    expect(reads()).toBe(2)
    t.clock.advance(10 * MINUTE_MS)
    expect(await signInAt(t.url, org, aUserAt(org))).toMatchObject(IN)
    expect(reads()).toBe(3)
  })

  test('ends in time with a provider that does not answer', async () => {
    const org = await anSsoOrg(t.app, provider, { plan: { token: () => 'silence' } })
    const started = await startSso(t.app, org.org.slug, null)
    const answer = Object.fromEntries(org.tenant.authorize(started?.location ?? '', aUserAt(org)))
    const result = await finishSso(t.app, { answer, cookie: started?.cookie ?? '' }, aCaller(), 300)
    expect(result).toEqual({ kind: 'refused', error: 'sso_failed' })
  })

  test('a provider whose name moves to a forbidden address is not asked', async () => {
    const range = parseAddressRange('127.0.0.1/32')
    if (range === null) throw new Error('no range')
    let address = '127.0.0.1'
    const egress = createEgress({
      allowed: [range],
      loopbackOpen: false,
      httpOpen: true,
      ownPorts: [],
      database: () => databaseAddress(t.connectionString),
      resolveName: () => Promise.resolve([address]),
    })
    const app = { ...t.app, egress }
    const port = new URL(provider.url).port
    const org = await anSsoOrg(t.app, provider)
    const issuer = org.tenant.issuer.replace('127.0.0.1', 'login.example.com')
    org.tenant.plan({
      discovery: (document) => ({
        body: JSON.parse(JSON.stringify(document).replaceAll('127.0.0.1', 'login.example.com')) as Claims,
      }),
    })
    await updateSsoConfig(app, org.owner.actor, { issuer, ...FAKE_CLIENT })
    const started = await startSso(app, org.org.slug, null)
    expect(started?.location).toMatch(`http://login.example.com:${port}/`)
    const answer = Object.fromEntries(org.tenant.authorize(started?.location ?? '', aUserAt(org)))
    await egress.close()
    address = '127.0.0.2'
    const moved = {
      ...app,
      egress: createEgress({
        allowed: [range],
        loopbackOpen: false,
        httpOpen: true,
        ownPorts: [],
        database: () => databaseAddress(t.connectionString),
        resolveName: () => Promise.resolve([address]),
      }),
    }
    const result = await finishSso(
      moved,
      { answer: { ...answer, iss: issuer }, cookie: started?.cookie ?? '' },
      aCaller(),
    )
    expect(result).toEqual({ kind: 'refused', error: 'sso_failed' })
    expect(org.tenant.asked).not.toContain('token')
    await moved.egress.close()
  })
})

describe('a session of single sign-on', () => {
  test('opens one organisation only, and changes no way to sign in of a user who has others', async () => {
    const org = await anSsoOrg(t.app, provider)
    const member = await aMember(org)
    const elsewhere = await aMembership(t.app, member, { org: await anOrg(t.app), role: 'owner' })
    const browser = visitor()
    const visit = await signInAt(t.url, org, aUserAt(org, { email: member.email }), browser)
    const { sessionId } = await whoIs(visit)
    const switched = await browser.go(`${t.url}/api/auth/switch-org`, {
      method: 'POST',
      body: JSON.stringify({ org: elsewhere.orgSlug }),
    })
    expect(switched.status).toBe(403)
    const actor = { ...member.actor, sessionId }
    await expect(requireRecentSignIn(t.app, actor, null)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(requireRecentSignIn(t.app, actor, member.password)).resolves.toBeUndefined()
  })

  test('with the password changes no way to sign in while the second factor of the account was not shown', async () => {
    const org = await anSsoOrg(t.app, provider)
    const member = await aMember(org)
    const phone = await insertVerifiedFactor(t.app, member)
    const user = aUserAt(org, { email: member.email })
    const { password } = member
    const by = async (visit: Visit) => ({ ...member.actor, sessionId: (await whoIs(visit)).sessionId })
    const byProvider = await by(await signInAt(t.url, org, { ...user, amr: ['mfa'] }))
    const refused = { code: 'forbidden', message: expect.stringMatching(/without a code/) as unknown }
    await expect(disableTwoFactor(t.app, byProvider, password)).rejects.toMatchObject(refused)
    await expect(replaceBackupCodes(t.app, byProvider, password)).rejects.toMatchObject(refused)
    const cookies = cookieJar()
    await expect(startPasskeyRegistration(t.app, byProvider, { password, cookies })).rejects.toMatchObject(refused)
    expect(await readTwoFactor(t.app, member.actor)).toMatchObject({ enabled: true })

    const browser = visitor()
    await signInAt(t.url, org, user, browser)
    const init = { method: 'POST', body: JSON.stringify({ token: phone.code() }) }
    const byCode = await by(await browser.go(`${t.url}/api/auth/2fa/continue`, init))
    await expect(requireRecentSignIn(t.app, byCode, null)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(disableTwoFactor(t.app, byCode, password)).resolves.toBeDefined()
  })

  test('ends when single sign-on is removed or gets another provider; others stay', async () => {
    const org = await anSsoOrg(t.app, provider)
    const byPassword = await aMember(org)
    for (const end of ['change', 'removal'] as const) {
      const browser = visitor()
      expect(await signInAt(t.url, org, aUserAt(org), browser)).toMatchObject(IN)
      expect(await browser.go(`${t.url}/api/me`)).toMatchObject({ status: 200 })
      const config = { issuer: provider.tenant().issuer, client_id: FAKE_CLIENT.client_id }
      if (end === 'change') {
        await expect(updateSsoConfig(t.app, org.owner.actor, config)).rejects.toMatchObject({ code: 'invalid' })
        await updateSsoConfig(t.app, org.owner.actor, { ...config, client_secret: FAKE_CLIENT.client_secret })
      } else await removeSsoConfig(t.app, org.owner.actor)
      expect(await browser.go(`${t.url}/api/me`)).toMatchObject({ status: 401 })
      const headers = { cookie: byPassword.cookie }
      expect(await visitor().go(`${t.url}/api/me`, { headers })).toMatchObject({ status: 200 })
      if (end === 'change') await updateSsoConfig(t.app, org.owner.actor, { issuer: org.tenant.issuer, ...FAKE_CLIENT })
    }
    expect((await actionsOf(org.org.id)).filter((action) => action === 'session.revoked')).toHaveLength(2)
  })
})

describe('enforced', () => {
  const may = ({ actor, email }: Person): Promise<boolean> => maySignInByPassword(t.app.db, { id: actor.userId, email })

  test('passwords of members of verified domains are refused; owners keep theirs with two-factor authentication', async () => {
    const org = await anSsoOrg(t.app, provider, { enforced: true })
    const [member, admin] = [await aMember(org), await aMember(org, { role: 'admin' })]
    const owner = await aMember(org, { role: 'owner' })
    const outside = await aPerson(t.app, { role: 'member', org: org.org })
    expect([await may(member), await may(admin), await may(owner), await may(outside)]).toEqual([
      false,
      false,
      false,
      true,
    ])
    await insertVerifiedFactor(t.app, member)
    await insertVerifiedFactor(t.app, owner)
    expect([await may(member), await may(owner)]).toEqual([false, true])
    await updateSsoConfig(t.app, org.owner.actor, {
      issuer: org.tenant.issuer,
      client_id: 'faultline',
      enforced: false,
    })
    expect(await may(member)).toBe(true)
  })

  test('the right password is answered and counted as a wrong one, and no reset is mailed', async () => {
    const org = await anSsoOrg(t.app, provider, { enforced: true })
    const member = await aMember(org)
    const { email } = member
    const post = (path: string, body: Readonly<Record<string, string>>): Promise<Visit> =>
      visitor().go(`${t.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    const wrong = await post('/api/auth/login', { email, password: 'not the password' })
    expect(wrong.status).toBe(401)
    for (let i = 0; i < 4; i += 1)
      expect(await post('/api/auth/login', { email, password: member.password })).toMatchObject({
        status: 401,
        body: wrong.body,
        cookies: [],
      })
    expect(await post('/api/auth/login', { email, password: member.password })).toMatchObject({ status: 429 })
    await sendResetLink(t.app, email, aCaller())
    expect(await queuedMails(t.app, email)).toEqual([])
    // The others of the same organisation are not concerned.
    expect(await post('/api/auth/login', { email: org.owner.email, password: org.owner.password })).toMatchObject({
      status: 200,
    })
    await sendResetLink(t.app, org.owner.email, aCaller())
    expect(await queuedMails(t.app, org.owner.email)).toMatchObject([{ type: 'password.reset.requested' }])
  })

  test('turning it on ends the sessions of its members that began otherwise, in every process within a second', async () => {
    const org = await anSsoOrg(t.app, provider)
    const member = await aMember(org)
    const elsewhere = await aMembership(t.app, member)
    const owner = await aMember(org, { role: 'owner' })
    const breakGlass = await aMember(org, { role: 'owner' })
    await insertVerifiedFactor(t.app, breakGlass)
    const outside = await aPerson(t.app, { role: 'member', org: org.org })
    const browser = visitor()
    await signInAt(t.url, org, aUserAt(org), browser)
    const other = createAuthenticator(second)
    t.onClose(() => {
      other.close()
      return Promise.resolve()
    })
    const isIn = ({ tokens: { accessToken } }: Person): Promise<boolean> =>
      other.authenticate({ authorization: null, accessToken }, aCaller()).then(
        () => true,
        () => false,
      )
    const all = [member, owner, elsewhere, breakGlass, outside, org.owner]
    expect(await Promise.all(all.map(isIn))).toEqual(all.map(() => true))
    await updateSsoConfig(t.app, org.owner.actor, {
      issuer: org.tenant.issuer,
      client_id: FAKE_CLIENT.client_id,
      enforced: true,
    })
    await waitFor('the other process', async () => !(await isIn(member)) && !(await isIn(owner)), 1_000)
    expect(await Promise.all(all.map(isIn))).toEqual([false, false, true, true, true, true])
    expect(await browser.go(`${t.url}/api/me`)).toMatchObject({ status: 200 })
    const { rows } = await t.app.db.query<{ session_id: string; reason: string }>(
      "select target_id as session_id, meta::json ->> 'reason' as reason from audit_log where org_id = $1 and action = 'session.revoked'",
      [org.org.id],
    )
    const ended = [member, owner].map(({ actor }) => ({ session_id: actor.sessionId, reason: 'sso_enforced' }))
    expect(new Set(rows)).toEqual(new Set(ended))
  })

  test('a domain that is verified later ends the sessions of its members, too', async () => {
    const org = await anSsoOrg(t.app, provider, { enforced: true })
    const domain = `${newId()}.example`
    const member = await aPerson(t.app, { role: 'member', org: org.org, email: `${newId()}@${domain}` })
    const config = { issuer: org.tenant.issuer, client_id: FAKE_CLIENT.client_id, domains: [org.domain, domain] }
    await updateSsoConfig(t.app, org.owner.actor, config)
    const me = () => visitor().go(`${t.url}/api/me`, { headers: { cookie: member.cookie } })
    expect(await me()).toMatchObject({ status: 200 })
    await verifyDomainByOperator(t.app, { org: org.org.slug, domain })
    expect(await me()).toMatchObject({ status: 401 })
  })

  test('a session of another organisation does not switch into one that requires single sign-on', async () => {
    const org = await anSsoOrg(t.app, provider, { enforced: true })
    const member = await aMember(org)
    const elsewhere = await aMembership(t.app, member)
    await expect(switchOrg(t.app, elsewhere.actor, org.org.slug)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/requires single sign-on/) as unknown,
    })
    // Nothing has changed: the session is still there.
    await expect(liveSession(t.app, elsewhere.actor.sessionId)).resolves.not.toBeNull()
  })

  test('needs a verified domain, and an owner who can still get in', async () => {
    const unverified = await anSsoOrg(t.app, provider, { verified: false })
    const on = (org: SsoOrg, actor = org.owner.actor) =>
      updateSsoConfig(t.app, actor, { issuer: org.tenant.issuer, client_id: 'faultline', enforced: true })
    await expect(on(unverified)).rejects.toMatchObject({ code: 'conflict' })
    const org = await anSsoOrg(t.app, provider)
    await t.app.db
      .updateTable('users')
      .set({ email: `${newId()}@${org.domain}` })
      .where('id', '=', org.owner.actor.userId)
      .execute()
    await expect(on(org)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/two-factor/) as unknown,
    })
    await insertVerifiedFactor(t.app, org.owner)
    expect(await on(org)).toMatchObject({ enforced: true })
  })

  test('the stored configuration shows no secret, neither to owners nor in the database or the log', async () => {
    const org = await anSsoOrg(t.app, provider)
    const headers = { cookie: org.owner.cookie }
    const { body } = await visitor().go(`${t.url}/api/auth/sso/config`, { headers })
    expect(JSON.parse(body)).toMatchObject({ client_secret: { configured: true }, issuer: org.tenant.issuer })
    const rows = await t.app.db.query(
      'select c::text as text from sso_configs c union all select meta::text from audit_log',
    )
    for (const text of [body, JSON.stringify(rows.rows), JSON.stringify(t.logLines)])
      expect(text).not.toContain(FAKE_CLIENT.client_secret)
  })
})
