import { afterAll, describe, expect, test } from 'vitest'
import { readAccessToken } from '#server/identity/auth/access-token.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { FAKE_CLIENT, fakeOidc, type Claims } from '#test/kit/fake-oidc.ts'
import { fakeGithub, GITHUB_CLIENT, type GithubAccount } from '#test/kit/fake-github.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { anSsoOrg } from '#test/kit/sso-world.ts'
import { testServer } from '#test/kit/test-server.ts'
import { insertVerifiedFactor } from '#test/kit/two-factor.ts'
import { visitor, type Visit, type Visitor } from '#test/kit/visitor.ts'

const github = await fakeGithub()
const oidc = await fakeOidc(() => t.clock.now())
const google = oidc.tenant()
afterAll(async () => {
  await github.close()
  await oidc.close()
})
const t = await testServer({
  env: {
    OAUTH_GITHUB_CLIENT_ID: GITHUB_CLIENT.id,
    OAUTH_GITHUB_CLIENT_SECRET: GITHUB_CLIENT.secret,
    OAUTH_GITHUB_BASE_URL: github.url,
    OAUTH_GOOGLE_CLIENT_ID: FAKE_CLIENT.client_id,
    OAUTH_GOOGLE_CLIENT_SECRET: FAKE_CLIENT.client_secret,
    OAUTH_GOOGLE_ISSUER: google.issuer,
  },
})

const MINUTE_MS = 60_000
let accounts = 0
const anAccount = (): GithubAccount => ({ id: 583_231 + accounts++, login: 'octocat' })

type ProviderName = 'github' | 'google'

const startAt = async (browser: Visitor, provider: ProviderName, init: RequestInit & { link?: boolean } = {}) =>
  (await browser.go(`${t.url}/api/auth/oauth/${provider}/start${init.link === true ? '?link=1' : ''}`, init)).location

const callBack = (browser: Visitor, provider: ProviderName, query: URLSearchParams): Promise<Visit> =>
  browser.go(`${t.url}/api/auth/oauth/${provider}/callback?${query.toString()}`)

/** To the provider and back, with the cookies of a person's session when it links. */
async function pass(
  provider: ProviderName,
  account: GithubAccount | Claims,
  { browser = visitor(), as }: { browser?: Visitor; as?: Person } = {},
): Promise<Visit> {
  const location = await startAt(
    browser,
    provider,
    as === undefined ? {} : { link: true, headers: { cookie: as.cookie } },
  )
  if (location.startsWith('/')) return { status: 302, location, body: '', cookies: [] }
  const back =
    provider === 'github' && 'id' in account && 'login' in account
      ? github.authorize(location, { id: Number(account.id), login: String(account.login) })
      : google.authorize(location, account)
  return callBack(browser, provider, back)
}

async function whoIs({ cookies }: Visit): Promise<string> {
  const token = cookies.find((line) => line.startsWith('svc_access='))?.split(/[=;]/)[1] ?? ''
  return (await readAccessToken(t.app, token)).sub
}

const as = (person: Person, path: string, init: RequestInit = {}): Promise<Visit> =>
  visitor().go(`${t.url}${path}`, { ...init, headers: { cookie: person.cookie } })

const users = async () => (await t.app.db.query('select count(*) from users')).rows[0]

describe.each([
  ['github', anAccount],
  ['google', (): Claims => ({ sub: newId(), email: 'ada@example.com', email_verified: true })],
] as const)('%s', (provider, make) => {
  test('an account that is linked while signed in signs in', async () => {
    const person = await aPerson(t.app)
    const account = make()
    expect(await pass(provider, account, { as: person })).toMatchObject({ location: `/me/security?linked=${provider}` })
    const visit = await pass(provider, account)
    expect(visit.location).toBe('/')
    expect(await whoIs(visit)).toBe(person.actor.userId)
    const listed = JSON.parse((await as(person, '/api/auth/oauth')).body) as { items: unknown[] }
    expect(listed.items).toContainEqual(
      expect.objectContaining({ provider, available: true, linked_at: t.clock.now().toISOString() }),
    )
    const entries = await t.app.db.query<{ action: string }>(
      'select action from audit_log where org_id = $1 order by seq',
      [person.actor.orgId],
    )
    const actions = entries.rows.map(({ action }) => action)
    expect(actions.filter((action) => /^(identity|signin)/.test(action))).toEqual([
      'identity.linked',
      'signin.oauth.ok',
    ])
  })

  test('an unknown account creates no user, also with the address of one', async () => {
    const person = await aPerson(t.app, { email: `${newId()}@example.com` })
    const before = await users()
    const visit = await pass(provider, { ...make(), email: person.email, email_verified: true })
    expect(visit).toMatchObject({ status: 302, location: '/login?error=not_linked' })
    expect(visit.cookies.filter((line) => /^svc_(access|refresh)/.test(line))).toEqual([])
    expect(await users()).toEqual(before)
  })

  test('an unknown account is linked once, after the password', async () => {
    const person = await aPerson(t.app)
    const account = make()
    const browser = visitor()
    await pass(provider, account, { browser })
    const cookie = `${person.cookie}; svc_oauth_link=${browser.cookie(t.url, 'svc_oauth_link') ?? ''}`
    const link = (password: string) =>
      visitor().go(`${t.url}/api/auth/oauth/link`, {
        method: 'POST',
        body: JSON.stringify({ password }),
        headers: { cookie },
      })
    expect(await link('not the password')).toMatchObject({ status: 400 })
    expect(await link(person.password)).toMatchObject({ status: 200 })
    expect(await link(person.password)).toMatchObject({ status: 400 })
    expect(await whoIs(await pass(provider, account))).toBe(person.actor.userId)
  })

  test('an account belongs to one user, and a user has one account at a provider', async () => {
    const [first, second] = [await aPerson(t.app), await aPerson(t.app)]
    const account = make()
    await pass(provider, account, { as: first })
    const elsewhere = { location: '/me/security?error=linked_elsewhere' }
    expect(await pass(provider, account, { as: second })).toMatchObject(elsewhere)
    expect(await pass(provider, make(), { as: first })).toMatchObject(elsewhere)
    expect(await whoIs(await pass(provider, account))).toBe(first.actor.userId)
  })

  test('a state counts once, in the browser that began, at that provider, for ten minutes', async () => {
    const account = make()
    await pass(provider, account, { as: await aPerson(t.app) })
    const authorize = (location: string) =>
      'id' in account ? github.authorize(location, account as GithubAccount) : google.authorize(location, account)
    const browser = visitor()
    const back = authorize(await startAt(browser, provider))
    const cookie = `svc_oauth=${browser.cookie(t.url, 'svc_oauth') ?? ''}`
    const expired = { location: '/login?error=oauth_expired' }
    expect(await callBack(visitor(), provider, back)).toMatchObject(expired)
    expect(await callBack(browser, provider === 'github' ? 'google' : 'github', back)).toMatchObject(expired)
    const url = `${t.url}/api/auth/oauth/${provider}/callback?${back.toString()}`
    const visits = await Promise.all(Array.from({ length: 8 }, () => visitor().go(url, { headers: { cookie } })))
    expect(visits.filter(({ location }) => location === '/')).toHaveLength(1)
    const late = visitor()
    const lateBack = authorize(await startAt(late, provider))
    t.clock.advance(10 * MINUTE_MS)
    expect(await callBack(late, provider, lateBack)).toMatchObject(expired)
  })

  test('a user with two-factor authentication needs a code', async () => {
    const person = await aPerson(t.app)
    const account = make()
    await pass(provider, account, { as: person })
    const phone = await insertVerifiedFactor(t.app, person)
    const browser = visitor()
    const visit = await pass(provider, account, { browser })
    expect(visit.location).toBe('/login?step=code')
    const init = { method: 'POST', body: JSON.stringify({ token: phone.code() }) }
    expect(await whoIs(await browser.go(`${t.url}/api/auth/2fa/continue`, init))).toBe(person.actor.userId)
  })

  test('disabled users and those whose organisation enforces single sign-on stay out', async () => {
    const disabled = await aPerson(t.app)
    const org = await anSsoOrg(t.app, oidc, { enforced: true })
    const member = await aPerson(t.app, { role: 'member', org: org.org, email: `${newId()}@${org.domain}` })
    const [one, other] = [make(), make()]
    await pass(provider, one, { as: disabled })
    await pass(provider, other, { as: member })
    const disabled_at = t.clock.now()
    await t.app.db.updateTable('users').set({ disabled_at }).where('id', '=', disabled.actor.userId).execute()
    expect(await pass(provider, one)).toMatchObject({ location: '/login?error=not_allowed' })
    expect(await pass(provider, other)).toMatchObject({ location: '/login?error=sso_required' })
  })

  test('linking needs a session, and a log-in of the last 15 minutes', async () => {
    const start = `${t.url}/api/auth/oauth/${provider}/start?link=1`
    expect(await visitor().go(start)).toMatchObject({ location: '/login?error=login_required' })
    const person = await aPerson(t.app)
    const { sessionId } = person.actor
    const earlier = new Date(t.clock.now().getTime() - 16 * MINUTE_MS)
    await t.app.db.updateTable('sessions').set({ authenticated_at: earlier }).where('id', '=', sessionId).execute()
    expect(await as(person, `/api/auth/oauth/${provider}/start?link=1`)).toMatchObject({
      location: '/me/security?error=login_too_old',
    })
    const another = await aPerson(t.app)
    const browser = visitor()
    const location = await startAt(browser, provider, { link: true, headers: { cookie: another.cookie } })
    const account = make()
    const back =
      'id' in account ? github.authorize(location, account as GithubAccount) : google.authorize(location, account)
    await t.app.db
      .updateTable('sessions')
      .set({ ended_at: t.clock.now() })
      .where('id', '=', another.actor.sessionId)
      .execute()
    const cookie = `svc_oauth=${browser.cookie(t.url, 'svc_oauth') ?? ''}`
    const visit = await visitor().go(`${t.url}/api/auth/oauth/${provider}/callback?${back.toString()}`, {
      headers: { cookie },
    })
    expect(visit.location).toBe('/me/security?error=login_required')
  })

  test('the user gets a mail when an account is linked, and when it is unlinked', async () => {
    const person = await aPerson(t.app)
    await pass(provider, make(), { as: person })
    await as(person, `/api/auth/oauth/${provider}`, { method: 'DELETE' })
    const name = { github: 'GitHub', google: 'Google' }[provider]
    expect(await queuedMails(t.app, person.email)).toMatchObject([
      { type: 'identity.linked', subject: `${name} was linked to your account` },
      { type: 'identity.unlinked', subject: `${name} was unlinked from your account` },
    ])
  })

  test('unlinking needs a log-in of the last 15 minutes, or the password', async () => {
    const person = await aPerson(t.app)
    await pass(provider, make(), { as: person })
    const authenticated_at = new Date(t.clock.now().getTime() - 15 * MINUTE_MS)
    const { sessionId } = person.actor
    await t.app.db.updateTable('sessions').set({ authenticated_at }).where('id', '=', sessionId).execute()
    const unlink = (password?: string) =>
      visitor().go(`${t.url}/api/auth/oauth/${provider}`, {
        method: 'DELETE',
        headers: { cookie: person.cookie },
        ...(password === undefined ? {} : { body: JSON.stringify({ password }) }),
      })
    expect(await unlink()).toMatchObject({ status: 403 })
    expect(await unlink('not the password')).toMatchObject({ status: 400 })
    expect(await unlink(person.password)).toMatchObject({ status: 204 })
  })

  test('the last way to sign in stays', async () => {
    const person = await aPerson(t.app)
    await pass(provider, make(), { as: person })
    const { userId } = person.actor
    await t.app.db.updateTable('users').set({ password_hash: null }).where('id', '=', userId).execute()
    expect(await as(person, `/api/auth/oauth/${provider}`, { method: 'DELETE' })).toMatchObject({ status: 409 })
    await t.app.db.updateTable('users').set({ password_hash: 'x' }).where('id', '=', userId).execute()
    expect(await as(person, `/api/auth/oauth/${provider}`, { method: 'DELETE' })).toMatchObject({ status: 204 })
    expect(await as(person, `/api/auth/oauth/${provider}`, { method: 'DELETE' })).toMatchObject({ status: 404 })
  })

  test('a user who says no comes back to the log-in page', async () => {
    const browser = visitor()
    const state = new URL(await startAt(browser, provider)).searchParams.get('state') ?? ''
    const query = new URLSearchParams({ error: 'access_denied', state })
    expect(await callBack(browser, provider, query)).toMatchObject({ location: '/login?error=oauth_denied' })
  })
})

describe('what GitHub answers', () => {
  test('is asked with PKCE and a state of 32 bytes', async () => {
    const location = new URL(await startAt(visitor(), 'github'))
    expect(location.pathname).toBe('/login/oauth/authorize')
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      client_id: GITHUB_CLIENT.id,
      code_challenge_method: 'S256',
      scope: 'read:user',
      redirect_uri: `${t.app.config.publicUrl}/api/auth/oauth/github/callback`,
    })
    expect(location.searchParams.get('state')).toMatch(/^[\w-]{43}$/)
  })

  test.each([
    ['an error', { status: 401, body: { message: 'Bad credentials' } }],
    ['a redirect', { status: 302, body: {} }],
    ['no id', { status: 200, body: { login: 'octocat' } }],
    ['an id that is text', { status: 200, body: { id: '583231', login: 'octocat' } }],
    ['an id of 0', { status: 200, body: { id: 0, login: 'octocat' } }],
    ['a list', { status: 200, body: [] }],
    ['10 MB', { status: 200, body: { id: 1, login: 'octocat', padding: 'x'.repeat(10 * 1024 * 1024) } }],
  ])('about the account, %s, is refused', async (_name, answer) => {
    github.answerUser(answer)
    const visit = await pass('github', anAccount())
    github.answerUser(undefined)
    expect(visit).toMatchObject({ location: '/login?error=oauth_failed' })
  })

  test('a code of another visit, or none, is refused', async () => {
    const [browser, other] = [visitor(), visitor()]
    const back = github.authorize(await startAt(browser, 'github'), anAccount())
    const stolen = github.authorize(await startAt(other, 'github'), anAccount()).get('code') ?? ''
    back.set('code', stolen)
    expect(await callBack(browser, 'github', back)).toMatchObject({ location: '/login?error=oauth_failed' })
    const empty = new URLSearchParams({
      state: new URL(await startAt(browser, 'github')).searchParams.get('state') ?? '',
    })
    expect(await callBack(browser, 'github', empty)).toMatchObject({ location: '/login?error=oauth_failed' })
  })

  test('a renamed account is the same, an account with its old name is another', async () => {
    const person = await aPerson(t.app)
    const account = anAccount()
    await pass('github', account, { as: person })
    expect(await whoIs(await pass('github', { ...account, login: 'renamed' }))).toBe(person.actor.userId)
    expect(await pass('github', { ...anAccount(), login: account.login })).toMatchObject({
      location: '/login?error=not_linked',
    })
  })

  test('no secret of the app, no token and no code is logged or stored', async () => {
    await pass('github', anAccount(), { as: await aPerson(t.app) })
    const { rows } = await t.app.db.query(
      'select i::text from social_identities i union all select p::text from social_transactions p union all select meta::text from audit_log',
    )
    for (const text of [JSON.stringify(rows), JSON.stringify(t.logLines)]) expect(text).not.toMatch(/canary-|gho_/)
  })
})

test('a provider that is not switched on is unavailable', async () => {
  for (const path of ['gitlab/start', 'gitlab/callback?code=x&state=y', '__proto__/start'])
    expect(await visitor().go(`${t.url}/api/auth/oauth/${path}`)).toMatchObject({
      location: '/login?error=oauth_unavailable',
    })
})
