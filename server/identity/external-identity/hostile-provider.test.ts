import { expect, test } from 'vitest'
import { fakeOidc } from '#test/kit/fake-oidc.ts'
import { HOSTILE_CASES } from '#test/kit/hostile-oidc.ts'
import { anSsoOrg, aUserAt, callBack, signInAt, startAt } from '#test/kit/sso-world.ts'
import { testServer } from '#test/kit/test-server.ts'
import { visitor } from '#test/kit/visitor.ts'

/** T-30: nothing that a provider does lets a user in whom the rules of docs/single-sign-on.md keep out. */

const t = await testServer()
const provider = await fakeOidc(() => t.clock.now())
t.onClose(() => provider.close())

const usersAndSessions = async (): Promise<unknown> =>
  (await t.app.db.query('select (select count(*) from users) as users, (select count(*) from sessions) as sessions'))
    .rows[0]

test('the same way with an honest provider lets the user in', async () => {
  const org = await anSsoOrg(t.app, provider)
  const before = await usersAndSessions()
  expect(await signInAt(t.url, org, aUserAt(org))).toMatchObject({ status: 302, location: '/' })
  expect(await usersAndSessions()).not.toEqual(before)
})

test('there are more than the 40 cases of T-30, each with a name of its own', () => {
  expect(new Set(HOSTILE_CASES.map(({ name }) => name)).size).toBeGreaterThan(40)
  expect(new Set(HOSTILE_CASES.map(({ name }) => name)).size).toBe(HOSTILE_CASES.length)
})

test.each(HOSTILE_CASES)('$name', async ({ plan = {}, user = {}, query }) => {
  const org = await anSsoOrg(t.app, provider, { plan })
  const before = await usersAndSessions()
  const browser = visitor()
  const location = await startAt(t.url, org, browser)
  let landed = location
  if (location.startsWith(org.tenant.issuer)) {
    const back = org.tenant.authorize(location, { ...aUserAt(org), ...user })
    query?.(back)
    const visit = await callBack(t.url, back, browser)
    expect(visit.cookies.filter((line) => /^svc_(access|refresh)=/.test(line))).toEqual([])
    landed = visit.location
  }
  expect(landed).toMatch(/^\/login\?error=sso_(unavailable|failed|expired|denied|not_allowed)$/)
  expect(await usersAndSessions()).toEqual(before)
  expect(JSON.stringify(t.logLines)).not.toContain('canary-client-secret')
})
