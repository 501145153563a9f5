import { randomBytes } from 'node:crypto'
import { ENDPOINT } from '../kit/endpoint-input.ts'
import { createEndpoint } from '#server/integrations/webhooks/create-endpoint.ts'
import { everythingStored } from '#test/kit/everything-stored.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { EXAMPLES } from '#test/kit/route-examples.ts'
import type { AuthRow, AuthWorld } from './auth-rows.ts'
import { authRoutes, callRoute, type CallAnswer, type Route, setCookiesOf } from './route-calls.ts'
import { atLeast, type Claim, none } from './torture.ts'

/** Rows about secrets that must not be found. */
export const rows: readonly AuthRow[] = [
  { id: 'T-34', summary: 'secrets planted in every call of accounts, then searched for', run: plantedSecrets },
]

const SECRET_FIELD = /password|token|secret|code|state/i
/** Names of answers that show a secret once. */
const SHOWN_FIELD = /^(?:key|secret|token|otpauthUrl|backupCodes)$/
/** Its record is in the DNS of the tests only. */
const NEEDS_DNS = new Set<string>(['verifySsoDomain'])
/** Shorter ones are found by chance. */
const MIN_CHARACTERS = 10

const planted = (): string => `planted-${randomBytes(12).toString('hex')}`

async function plantedSecrets({ app, urls, times, logs }: AuthWorld): Promise<readonly Claim[]> {
  const passes = times({ short: 1, byDefault: 3, full: 20 })
  /** With where it was sent or shown. */
  const secrets = new Map<string, string>()
  const echoed: string[] = []
  const failed: string[] = []
  let calls = 0
  const remember = (where: string, values: Iterable<string>): void => {
    for (const value of values) if (value.length >= MIN_CHARACTERS) secrets.set(value, where)
  }
  const answered = ({ name }: Route, value: string, { status, text, headers }: CallAnswer): void => {
    calls++
    remember(name, [value])
    if (text.includes(value) || JSON.stringify([...headers]).includes(value)) echoed.push(`${name} ${status}`)
    if (status >= 500) failed.push(`${name}: ${status}`)
  }
  async function anExample(route: Route) {
    const owner = await aPerson(app, { password: `${planted()} of a user` })
    // Bodies of webhooks are stored too.
    const { secret } = await createEndpoint(app, owner.actor, { ...ENDPOINT, url: 'http://127.0.0.1:9/' })
    const call = await EXAMPLES[route.name](app, owner, await aPerson(app))
    remember('a webhook', [secret])
    remember(route.name, [owner.password, owner.tokens.accessToken, owner.tokens.refreshToken, ...secretsIn(call.body)])
    remember(
      route.name,
      (call.cookie ?? '').split('; ').map((pair) => pair.slice(pair.indexOf('=') + 1)),
    )
    return { call, headers: headersOf(owner, call.cookie) }
  }
  for (let pass = 0; pass < passes; pass++)
    for (const [at, route] of authRoutes().entries()) {
      const url = urls[(at + pass) % 2] ?? urls[0]
      const { call, headers } = await anExample(route)
      const answer = await callRoute(url, route, call, headers)
      calls++
      if (answer.status >= (NEEDS_DNS.has(route.name) ? 500 : 400)) failed.push(`${route.name}: ${answer.status}`)
      remember(route.name, setCookiesOf(answer).values())
      remember(route.name, shownIn(answer.text))
      const location = answer.headers.get('location') ?? ''
      if (URL.canParse(location)) remember(route.name, new URL(location).searchParams.getAll('state'))
      // Then what is refused, of another user: credentials and fields that are wrong, in every place.
      const other = await anExample(route)
      for (const place of ['cookie', 'authorization', 'query', ...secretFields(other.call.body)]) {
        const value = planted()
        const wrong: Record<string, string> =
          place === 'cookie'
            ? { cookie: `svc_access=${value}; svc_refresh=${value}; svc_device=${value}; svc_sso=${value}` }
            : place === 'authorization'
              ? { authorization: `Bearer ${value}` }
              : other.headers
        const body = place in (other.call.body ?? {}) ? { ...other.call.body, [place]: value } : other.call.body
        const query = place === 'query' ? `token=${value}&code=${value}&state=${value}` : ''
        const sent = { ...other.call, ...(body === undefined ? {} : { body }) }
        answered(route, value, await callRoute(url, route, sent, wrong, query))
      }
    }
  const stored = await everythingStored(app.db)
  const logged = logs()
  const found = (text: string): string[] =>
    [...secrets].flatMap(([value, where]) => (text.includes(value) ? [where] : []))
  return [
    atLeast('calls', authRoutes().length * 3 * passes, calls),
    atLeast('secrets', authRoutes().length * 4 * passes, secrets.size),
    none(`secrets in the database${listed(found(stored))}`, found(stored).length),
    none(`secrets in the logs${listed(found(logged))}`, found(logged).length),
    none(`wrong secrets that an answer repeats${listed(echoed)}`, echoed.length),
    none(`calls that fail${listed(failed)}`, failed.length),
  ]
}

const headersOf = ({ cookie }: Person, more: string | undefined): Record<string, string> => ({
  cookie: more === undefined ? cookie : `${cookie}; ${more}`,
})

const secretFields = (body: Readonly<Record<string, unknown>> | undefined): string[] =>
  Object.entries(body ?? {}).flatMap(([name, value]) =>
    SECRET_FIELD.test(name) && typeof value === 'string' ? [name] : [],
  )

const secretsIn = (body: Readonly<Record<string, unknown>> | undefined): string[] =>
  secretFields(body).map((name) => String(body?.[name]))

function shownIn(text: string): string[] {
  if (!text.startsWith('{')) return []
  const shown = JSON.parse(text) as Record<string, unknown>
  return Object.entries(shown).flatMap(([name, value]) =>
    !SHOWN_FIELD.test(name)
      ? []
      : [value].flat().map((one) => {
          const shown = String(one)
          return URL.canParse(shown) ? (new URL(shown).searchParams.get('secret') ?? shown) : shown
        }),
  )
}

const listed = (texts: readonly string[]): string =>
  texts.length === 0 ? '' : ` (${[...new Set(texts)].slice(0, 10).join('; ')})`
