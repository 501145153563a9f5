import { createKey } from '#server/identity/api-keys/create-key.ts'
import type { App } from '#server/platform/context/app.ts'
import { contract } from '#server/service/api/contract.ts'
import type { RouteSpec } from '#server/platform/kernel/contract.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { PERMISSIONS, ROLES, roleAtLeast, SCOPES, type Role, type Rule } from '#shared/permissions.ts'
import { client } from '#test/kit/client.ts'
import { anInvite } from '#test/kit/invites.ts'
import { aPerson, GOOD_PASSWORD, type Person } from '#test/kit/members.ts'
import { EXAMPLES, type ExampleCall } from '#test/kit/route-examples.ts'
import type { AuthRow, AuthWorld } from './auth-rows.ts'
import { atLeast, type Claim, none } from './torture.ts'

/** Rows about members, invitations, permissions and the origin of requests. */
export const rows: readonly AuthRow[] = [
  { id: 'T-22', summary: 'members refresh while their role changes or they are removed', run: refreshesAgainstChanges },
  { id: 'T-25', summary: 'one invitation accepted 20 times in parallel', run: parallelAccepts },
  { id: 'T-28', summary: 'every route × role × scope × other organisation × no session', run: accessMatrix },
  { id: 'T-29', summary: 'every unsafe route called from another site, or with another kind of body', run: crossSite },
]

const memberOf = (app: App, owner: Person, role: Role): Promise<Person> =>
  aPerson(app, { role, org: { id: owner.actor.orgId, slug: owner.orgSlug } })

async function refreshesAgainstChanges({ app, urls, times }: AuthWorld): Promise<readonly Claim[]> {
  const rounds = times({ short: 4, byDefault: 100, full: 1_000 })
  const [here, there] = urls
  let alive = 0
  let failures = 0
  for (let round = 0; round < rounds; round++) {
    const owner = await aPerson(app)
    const member = await memberOf(app, owner, 'member')
    const browser = client(there)
    const admin = client(here)
    const path = `/api/team/${member.actor.userId}`
    const headers = { cookie: owner.cookie }
    const [refreshed, changed] = await Promise.all([
      browser.request('POST', '/api/auth/refresh', { headers: { cookie: member.cookie } }),
      round % 2 === 0
        ? admin.request('PATCH', path, { headers, body: { role: 'viewer' } })
        : admin.request('DELETE', path, { headers }),
    ])
    if (changed.status >= 300 || refreshed.status >= 500) failures++
    // At once in the process that made the change, whichever token it is.
    const tokens = [member.tokens.accessToken, browser.cookies.get('svc_access') ?? member.tokens.accessToken]
    for (const token of tokens) {
      const { status } = await client(here).request('GET', '/api/me', { headers: { cookie: `svc_access=${token}` } })
      if (status !== 401) alive++
    }
    const again = await browser.post('/api/auth/refresh')
    if (again.status !== 401) alive++
  }
  return [none('tokens that survive', alive), none('changes that fail, and 5xx', failures)]
}

async function parallelAccepts({ app, urls, times }: AuthWorld): Promise<readonly Claim[]> {
  const rounds = times({ short: 4, byDefault: 50, full: 200 })
  const owner = await aPerson(app)
  let wrong = 0
  let others = 0
  for (let round = 0; round < rounds; round++) {
    // Every second one for an account that exists.
    const account = round % 2 === 0 ? null : await aPerson(app)
    const { token, email } = await anInvite(app, owner, account === null ? {} : { email: account.email })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        client(urls[n % 2 === 0 ? 0 : 1]).post('/api/auth/accept-invite', { token, password: GOOD_PASSWORD }),
      ),
    )
    const accepted = answers.filter(({ status }) => status === 200).length
    others += answers.filter(({ status }) => ![200, 400, 409].includes(status)).length
    const { rows: joined } = await app.db.query<{ n: number }>(
      `select count(*)::integer as n from memberships m join users u on u.id = m.user_id where u.email = $1 and m.org_id = $2`,
      [email, owner.actor.orgId],
    )
    if (accepted !== 1 || joined[0]?.n !== 1) wrong++
  }
  return [none('rounds without exactly one success', wrong), none('answers other than 200, 400 and 409', others)]
}

type Name = keyof typeof contract
type Route = { readonly name: Name; readonly spec: RouteSpec }

const routes = (): Route[] => (Object.keys(contract) as Name[]).map((name) => ({ name, spec: contract[name] }))

/** A share of the routes in the short form: `npm test` has all of them in test/refusals.test.ts. */
function chosen(all: readonly Route[], { form, seed }: AuthWorld): Route[] {
  return form === 'short' ? all.filter((_, index) => (index + seed) % 12 === 0) : [...all]
}

type Sent = {
  readonly headers?: Record<string, string>
  readonly params?: ExampleCall['params']
  readonly raw?: string
}

/** A busy machine may answer 503, which the matrix does not concern: such a call is repeated. */
async function statusOf(url: string, route: Route, call: ExampleCall, sent: Sent): Promise<number> {
  for (let left = 4; ; left--) {
    const status = await statusOnce(url, route, call, sent)
    if (status !== 503 || left === 0) return status
  }
}

async function statusOnce(url: string, { spec }: Route, call: ExampleCall, sent: Sent): Promise<number> {
  const params = sent.params ?? call.params
  const path = spec.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params?.[name] ?? newId()))
  const body = sent.raw ?? call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
  const leaving = new AbortController()
  const { status } = await fetch(url + path + (call.query ?? ''), {
    method: spec.method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
      ...sent.headers,
    },
    body: body ?? null,
    signal: leaving.signal,
  })
  leaving.abort()
  return status
}

/** Counts what an organisation's members did, by its audit log. */
async function entriesOf(app: App, { actor }: Person): Promise<number> {
  const { rows: found } = await app.db.query<{ n: number }>(
    `select count(*)::integer as n from audit_log where org_id = $1 and outcome = 'ok'`,
    [actor.orgId],
  )
  return found[0]?.n ?? 0
}

const bearerOf = async (app: App, { actor }: Person, scopes: readonly string[]) => ({
  authorization: `Bearer ${(await createKey(app, actor, { name: 'Torture', scopes: [...scopes] })).key}`,
})

/** Answers to an owner where the services of this row have less than their callers would need. */
const REFUSED_HERE: Partial<Record<Name, number>> = {
  // No record of the domain in the DNS.
  verifySsoDomain: 400,
  // No provider is set up.
  linkSocial: 400,
  // Only the process of the test knows the newer version.
  upgradeGrouping: 400,
  // It exists for owners of the oldest organisation only.
  readOperatorStatus: 404,
}

async function accessMatrix(world: AuthWorld): Promise<readonly Claim[]> {
  const { app, urls } = world
  const wrong: string[] = []
  let calls = 0
  for (const route of chosen(routes(), world)) {
    const rule: Rule | null = PERMISSIONS[route.spec.permission]
    if (rule === null) continue
    const [owner, stranger] = [await aPerson(app), await aPerson(app)]
    const call = await EXAMPLES[route.name](app, owner, stranger)
    const ask = async (what: string, expected: number, headers: Record<string, string>) => {
      const url = urls[calls++ % 2 === 0 ? 0 : 1]
      const status = await statusOf(url, route, call, { headers })
      if (status !== expected) wrong.push(`${route.name} ${what}: ${status}`)
    }
    const before = await entriesOf(app, owner)
    await ask('without a session', 401, {})
    if (route.spec.params !== undefined) await ask('from elsewhere', 404, { cookie: stranger.cookie })
    for (const role of ROLES) {
      if (roleAtLeast(role, rule.minRole)) continue
      const member = await memberOf(app, owner, role)
      await ask(`as ${role}`, 403, { cookie: member.cookie })
      await ask(`as a key of ${role}`, 403, await bearerOf(app, member, SCOPES))
    }
    const made = await entriesOf(app, owner)
    for (const scope of SCOPES)
      if (rule.scope !== 'any' && rule.scope !== scope)
        await ask(`with the scope ${scope}`, 403, await bearerOf(app, owner, [scope]))
    const keys = rule.scope === 'any' ? 0 : SCOPES.filter((scope) => scope !== rule.scope).length
    if ((await entriesOf(app, owner)) !== made + keys) wrong.push(`${route.name} changed something`)
    if (made < before) wrong.push(`${route.name} lost entries`)
    const cookie = call.cookie === undefined ? owner.cookie : `${owner.cookie}; ${call.cookie}`
    const status = await statusOf(urls[0], route, call, { headers: { cookie } })
    if (status >= 400 && status !== REFUSED_HERE[route.name]) wrong.push(`${route.name} as owner: ${status}`)
  }
  return [atLeast('calls', 20, calls), none(`answers that the matrix does not have${named(wrong)}`, wrong.length)]
}

const CROSS_SITE: readonly Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site', origin: 'null' },
  { origin: 'null' },
  { origin: 'https://evil.example' },
  { referer: 'https://evil.example/' },
]

async function crossSite(world: AuthWorld): Promise<readonly Claim[]> {
  const { app, urls } = world
  const wrong: string[] = []
  let calls = 0
  for (const route of chosen(
    // Signed deliveries of other systems come from anywhere, without a session.
    routes().filter(({ spec }) => spec.method !== 'GET' && spec.rawBody !== true),
    world,
  )) {
    const [owner, stranger] = [await aPerson(app), await aPerson(app)]
    const call = await EXAMPLES[route.name](app, owner, stranger)
    const before = await entriesOf(app, owner)
    const ask = async (what: string, expected: number, sent: Sent) => {
      const status = await statusOf(urls[calls++ % 2 === 0 ? 0 : 1], route, call, sent)
      if (status !== expected) wrong.push(`${route.name} ${what}: ${status}`)
    }
    for (const headers of CROSS_SITE)
      await ask(JSON.stringify(headers), 403, { headers: { cookie: owner.cookie, ...headers } })
    // An upload is a file of any type.
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']
    for (const type of route.spec.upload === undefined ? types : [])
      await ask(type, 400, { headers: { cookie: owner.cookie, 'content-type': type }, raw: '{"a":1}' })
    if ((await entriesOf(app, owner)) !== before) wrong.push(`${route.name} changed something`)
  }
  return [atLeast('calls', 20, calls), none(`calls that are not refused${named(wrong)}`, wrong.length)]
}

const named = (wrong: readonly string[]): string => (wrong.length === 0 ? '' : ` (${wrong.slice(0, 10).join(', ')})`)
