import { fakeOidc, FAKE_CLIENT } from '#test/kit/fake-oidc.ts'
import { HOSTILE_CASES } from '#test/kit/hostile-oidc.ts'
import { anSsoOrg, aUserAt, startAt } from '#test/kit/sso-world.ts'
import { visitor, type Visit } from '#test/kit/visitor.ts'
import type { AuthRow, AuthWorld } from './auth-rows.ts'
import { atLeast, type Claim, none } from './torture.ts'

/** Rows about single sign-on. */
export const rows: readonly AuthRow[] = [
  { id: 'T-30', summary: 'a hostile OIDC provider, and callbacks that race', run: hostileProvider },
]

async function hostileProvider({ app, urls, times, logs }: AuthWorld): Promise<readonly Claim[]> {
  const provider = await fakeOidc(() => app.clock.now())
  const users = async (): Promise<string> =>
    JSON.stringify((await app.db.query('select (select count(*) from users), (select count(*) from sessions)')).rows)
  const calledBack = (at: number, query: URLSearchParams, cookie: string): Promise<Visit> =>
    visitor().go(`${urls[at % 2] ?? urls[0]}/api/auth/sso/callback?${query.toString()}`, { headers: { cookie } })
  const gotIn: string[] = []
  let created = 0
  let attacks = 0
  let honest = 0
  let races = 0
  try {
    for (let round = 0; round < times({ short: 1, byDefault: 3, full: 20 }); round += 1) {
      for (const [at, { name, plan = {}, user = {}, query }] of HOSTILE_CASES.entries()) {
        const org = await anSsoOrg(app, provider, { plan })
        const before = await users()
        const browser = visitor()
        const location = await startAt(urls[0], org, browser)
        attacks += 1
        if (location.startsWith(org.tenant.issuer)) {
          const back = org.tenant.authorize(location, { ...aUserAt(org), ...user })
          query?.(back)
          const visit = await calledBack(at, back, `svc_sso=${browser.cookie(urls[0], 'svc_sso') ?? ''}`)
          if (!visit.location.startsWith('/login?error=')) gotIn.push(`${name}: ${visit.location}`)
        } else if (!location.startsWith('/login?error=')) gotIn.push(`${name}: ${location}`)
        if ((await users()) !== before) created += 1
      }
      // One state, twenty callbacks at two services.
      const org = await anSsoOrg(app, provider)
      const browser = visitor()
      const back = org.tenant.authorize(await startAt(urls[0], org, browser), aUserAt(org))
      const cookie = `svc_sso=${browser.cookie(urls[0], 'svc_sso') ?? ''}`
      const visits = await Promise.all(Array.from({ length: 20 }, (_, at) => calledBack(at, back, cookie)))
      const winners = visits.filter(({ location }) => location === '/').length
      honest += winners === 1 ? 1 : 0
      races += 1
    }
  } finally {
    await provider.close()
  }
  return [
    atLeast('attacks', 40, attacks),
    none(`attacks that were not refused${gotIn.length === 0 ? '' : ` (${gotIn.join(', ')})`}`, gotIn.length),
    none('attacks that created a user or a session', created),
    none('races of 20 callbacks with one state that did not end with exactly one session', races - honest),
    none('client secrets in the logs', logs().split(FAKE_CLIENT.client_secret).length - 1),
  ]
}
