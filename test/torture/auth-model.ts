import { newAddressOf, EXAMPLES } from '#test/kit/route-examples.ts'
import { client } from '#test/kit/client.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { AuthRow, AuthWorld } from './auth-rows.ts'
import { random as seededRandom } from '#bench/payloads.ts'
import { authRoutes, callRoute, type Route, type RouteName, setCookiesOf } from './route-calls.ts'
import { atLeast, type Claim, none } from './torture.ts'

/** Rows that compare random histories of sessions with a model. */
export const rows: readonly AuthRow[] = [
  {
    id: 'T-45',
    summary: 'random histories of every route of accounts: which sessions live, by a model',
    run: histories,
  },
]

/** The effect of a successful call on sessions of its user. Routes that are not listed end none. */
const EFFECTS: Partial<
  Record<RouteName, { readonly own: 'ends' | 'is replaced' | 'stays'; readonly others: 'end' | 'stay' }>
> = {
  logOut: { own: 'ends', others: 'stay' },
  switchOrg: { own: 'is replaced', others: 'stay' },
  endOtherSessions: { own: 'stays', others: 'end' },
  changePassword: { own: 'is replaced', others: 'end' },
  resetPassword: { own: 'ends', others: 'end' },
  verifyTwoFactor: { own: 'is replaced', others: 'end' },
  disableTwoFactor: { own: 'is replaced', others: 'end' },
  deleteMe: { own: 'ends', others: 'end' },
}

type Session = { cookies: ReadonlyMap<string, string>; isAlive: boolean }

const STEPS = 8

async function histories(world: AuthWorld): Promise<readonly Claim[]> {
  const { seed, times } = world
  const passes = times({ short: 1, byDefault: 4, full: 60 })
  const random = seededRandom(seed)
  const succeeded = new Set<RouteName>()
  const wrong: string[] = []
  let steps = 0
  let postponed = 0
  const queue = Array.from({ length: passes }, () => shuffled(authRoutes(), random)).flat()
  while (queue.length > 0) {
    const history = await aHistory(world, random)
    for (let step = 0; step < STEPS && history.isGoing(); step++) {
      const route = queue.shift()
      if (route === undefined) break
      // Such as the setup of what is set up: in a later history.
      if (await history.take(route, ++steps)) continue
      if (++postponed < 1_000 * passes) queue.push(route)
    }
    for (const name of history.succeeded) succeeded.add(name)
    wrong.push(...history.wrong)
  }
  // The record of a domain is in the DNS of the tests only.
  const missing = authRoutes().flatMap(({ name }) => (succeeded.has(name) || name === 'verifySsoDomain' ? [] : [name]))
  return [
    atLeast('calls', authRoutes().length * passes, steps),
    none(`differences from the model${listed(wrong)}`, wrong.length),
    none(`routes that never succeeded${listed(missing)}`, missing.length),
  ]
}

/** One user with three sessions, and a stranger whose session nothing may touch. */
async function aHistory({ app, urls }: AuthWorld, random: () => number) {
  const person = await aPerson(app)
  const stranger = await aPerson(app)
  let { email, password } = person
  const sessions: Session[] = []
  const begin = (cookies: ReadonlyMap<string, string>): void => void sessions.push({ cookies, isAlive: true })
  begin(cookiesOf(person.cookie))
  for (const url of urls) {
    const browser = client(url)
    await browser.post('/api/auth/login', { email, password })
    begin(browser.cookies)
  }
  const succeeded = new Set<RouteName>()
  const wrong: string[] = []

  const statusOf = async (url: string, method: string, path: string, cookies: ReadonlyMap<string, string>) =>
    (await client(url).request(method, path, { headers: { cookie: headerOf(cookies) } })).status

  /** At once in the process that made the change, and soon in the other. */
  async function compare(what: string, here: string, there: string): Promise<void> {
    for (const [n, { cookies, isAlive }] of sessions.entries()) {
      const expected = isAlive ? 200 : 401
      const status = await statusOf(here, 'GET', '/api/me', cookies)
      if (status !== expected) wrong.push(`${what}: session ${n} is ${status}, not ${expected}`)
      const inTime = await waitFor('the other process', async () => {
        return (await statusOf(there, 'GET', '/api/me', cookies)) === expected
      }).catch(() => false)
      if (!inTime) wrong.push(`${what}: session ${n} elsewhere is not ${expected}`)
      if (!isAlive && (await statusOf(here, 'POST', '/api/auth/refresh', cookies)) !== 401)
        wrong.push(`${what}: session ${n} was refreshed`)
    }
    if ((await statusOf(here, 'GET', '/api/me', cookiesOf(stranger.cookie))) !== 200)
      wrong.push(`${what}: the stranger is out`)
  }

  /** @returns false when the state of the history has no example of it */
  async function take(route: Route, step: number): Promise<boolean> {
    const { name, spec } = route
    const [here, there] = step % 2 === 0 ? urls : [urls[1], urls[0]]
    // Mostly one that lives: dead ones are refused before anything happens.
    const own = chosen(random() < 0.85 ? sessions.filter(({ isAlive }) => isAlive) : sessions)
    if (own === undefined) return false
    const as = asOwner({ ...person, email, password }, own)
    const call = await EXAMPLES[name](app, as, stranger).catch(() => null)
    if (call === null) return false
    const cookie = [headerOf(own.cookies), call.cookie].filter((part) => part !== undefined).join('; ')
    const answer = await callRoute(here, route, call, { cookie })
    const what = `${name} (step ${step})`
    if (answer.status >= 500) wrong.push(`${what}: ${answer.status}`)
    if (!own.isAlive && spec.permission !== 'public' && answer.status !== 401)
      wrong.push(`${what} of a dead session: ${answer.status}`)
    if (answer.status < 400) {
      succeeded.add(name)
      const effect = EFFECTS[name] ?? { own: 'stays', others: 'stay' }
      const given = setCookiesOf(answer)
      const isRefresh = name === 'refresh'
      if (effect.others === 'end') for (const one of sessions) if (one !== own) one.isAlive = false
      if (effect.own !== 'stays') own.isAlive = false
      if (isRefresh) own.cookies = new Map([...own.cookies, ...given])
      // A replaced session, and one of a new sign-in: the browser had another before, which lives on.
      else if (given.has('svc_refresh')) begin(new Map([...own.cookies, ...given]))
      else if (effect.own === 'is replaced') wrong.push(`${what} gave no new session`)
      if (name === 'confirmEmail') email = newAddressOf({ ...person, email })
      if (name === 'changePassword' || name === 'resetPassword') password = 'a different good password'
    }
    await compare(what, here, there)
    // A dead session had its refusal; the route still needs its success.
    return own.isAlive || answer.status < 400
  }
  const isGoing = (): boolean => sessions.some(({ isAlive }) => isAlive)
  const chosen = (from: readonly Session[]) => from[Math.floor(random() * from.length)]
  return { take, isGoing, succeeded, wrong }
}

function asOwner(person: Person, { cookies }: Session): Person {
  const accessToken = cookies.get('svc_access') ?? ''
  const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }
  return { ...person, actor: { ...person.actor, sessionId: claims.sid }, cookie: headerOf(cookies) }
}

const cookiesOf = (header: string): Map<string, string> =>
  new Map(header.split('; ').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
const headerOf = (cookies: ReadonlyMap<string, string>): string =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item)
}

const listed = (texts: readonly string[]): string => (texts.length === 0 ? '' : ` (${texts.slice(0, 10).join('; ')})`)
