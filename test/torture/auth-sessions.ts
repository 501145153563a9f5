import { createApp } from '#server/service/app.ts'
import { putToken } from '#server/identity/accounts/account-tokens.queries.ts'
import { createPasswordHasher } from '#server/identity/auth/password-hasher.ts'
import { startService } from '#server/service/cli/service.ts'
import type { App } from '#server/platform/context/app.ts'
import { newOneTimeToken, oneTimeTokenHash } from '#server/platform/kernel/one-time-token.ts'
import { client, type Client } from '#test/kit/client.ts'
import { logInWithPassword } from '#test/kit/log-in.ts'
import { aCaller, aPerson, type Person } from '#test/kit/members.ts'
import { authenticatorApp } from '#test/kit/two-factor.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { AuthRow, AuthWorld } from './auth-rows.ts'
import { atLeast, atMost, claim, type Claim, none } from './torture.ts'

/** Rows about sessions and passwords. */
export const rows: readonly AuthRow[] = [
  { id: 'T-21', summary: '50 refreshes with one token at once, then the token once more', run: refreshRace },
  {
    id: 'T-23',
    summary: '500 wrong passwords of one account at once',
    env: { RATE_LIMIT_SCALE: '1' },
    run: wrongPasswords,
  },
  { id: 'T-25', summary: 'one link that resets the password, used 20 times at once', run: parallelResets },
  { id: 'A-01', summary: 'thousands of sign-ins of one user: the newest 20 sessions stay', run: manySignIns },
  { id: 'A-02', summary: 'the clock of one process is 10 minutes ahead, or behind', run: clocksApart },
]

const PARALLEL_REFRESHES = 50

const pick = <T>(of: readonly [T, T], n: number): T => of[n % 2 === 0 ? 0 : 1]

/** Calls with the cookies of a browser, which keeps those of the answer. */
function browserOf(url: string, cookies: ReadonlyMap<string, string> | string): Client {
  const browser = client(url)
  const pairs =
    typeof cookies === 'string' ? cookies.split('; ').map((pair) => pair.split('=', 2) as [string, string]) : cookies
  for (const [name, value] of pairs) browser.cookies.set(name, value)
  return browser
}

/** The tokens of one rotation, asked for by many copies of one browser. */
async function refreshAtOnce(
  urls: readonly [string, string],
  cookies: ReadonlyMap<string, string> | string,
  copies: number,
) {
  const browsers = Array.from({ length: copies }, (_, n) => browserOf(pick(urls, n), cookies))
  const answers = await Promise.all(browsers.map((browser) => browser.post('/api/auth/refresh')))
  return {
    statuses: answers.map(({ status }) => status),
    successors: new Set(browsers.map((browser) => browser.cookies.get('svc_refresh') ?? 'none')),
    winner: browsers[0]?.cookies ?? new Map<string, string>(),
  }
}

async function theftsOf(app: App, { actor }: Pick<Person, 'actor'>): Promise<number> {
  const { rows: found } = await app.db.query<{ n: number }>(
    `select count(*)::integer as n from audit_log where org_id = $1 and action = 'session.theft_detected'`,
    [actor.orgId],
  )
  return found[0]?.n ?? 0
}

async function refreshRace({ app, urls, times }: AuthWorld): Promise<readonly Claim[]> {
  const rounds = times({ short: 3, byDefault: 50, full: 1_000 })
  const wrong = { successors: 0, refused: 0, early: 0, reuse: 0, family: 0, events: 0, failures: 0 }
  for (let round = 0; round < rounds; round++) {
    const person = await aPerson(app)
    const { statuses, successors, winner } = await refreshAtOnce(urls, person.cookie, PARALLEL_REFRESHES)
    if (successors.size !== 1) wrong.successors++
    wrong.refused += statuses.filter((status) => status !== 200).length
    wrong.failures += statuses.filter((status) => status >= 500).length
    wrong.early += await theftsOf(app, person)
    // After the last answer: a thief has the token.
    const { status } = await browserOf(pick(urls, round), person.cookie).post('/api/auth/refresh')
    if (status !== 401) wrong.reuse++
    const after = await browserOf(pick(urls, round + 1), winner).post('/api/auth/refresh')
    if (after.status !== 401) wrong.family++
    if ((await theftsOf(app, person)) !== 1) wrong.events++
  }
  return [
    none(`rounds of ${rounds} with another number of successors than one`, wrong.successors),
    none('parallel refreshes that were refused', wrong.refused),
    none('5xx', wrong.failures),
    none('theft events before the reuse', wrong.early),
    none('reuses that were not refused', wrong.reuse),
    none('families that lived on', wrong.family),
    none('rounds without exactly one theft event', wrong.events),
  ]
}

/** Hashes that the services computed so far. In the short form both are in this process and share one hasher. */
async function hashesOf({ urls, form }: AuthWorld): Promise<number> {
  let sum = 0
  for (const url of form === 'short' ? urls.slice(0, 1) : urls) {
    const { text } = await client(url).get('/-/metrics')
    sum += Number(/^faultline_password_hashes_total (\d+)$/m.exec(text)?.[1] ?? Number.NaN)
  }
  return sum
}

async function wrongPasswords(world: AuthWorld): Promise<readonly Claim[]> {
  const { app, urls, times } = world
  const rounds = times({ short: 1, byDefault: 3, full: 20 })
  let most = 0
  let odd = 0
  let keptOut = 0
  let strangers = 0
  for (let round = 0; round < rounds; round++) {
    const person = await aPerson(app)
    const { email, password } = person
    const device = client(urls[0])
    if ((await device.post('/api/auth/login', { email, password })).status !== 200) odd++
    const before = await hashesOf(world)
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, n) =>
        client(pick(urls, n)).post('/api/auth/login', { email, password: `wrong ${n}` }),
      ),
    )
    most = Math.max(most, (await hashesOf(world)) - before)
    odd += answers.filter(({ status }) => status !== 401 && status !== 429).length
    odd += answers.filter(({ status, headers }) => status === 429 && headers.get('retry-after') === null).length
    // Not even the right one, from a browser that the account does not know.
    if ((await client(urls[1]).post('/api/auth/login', { email, password })).status !== 429) strangers++
    if ((await browserOf(urls[1], device.cookies).post('/api/auth/login', { email, password })).status !== 200)
      keptOut++
  }
  return [
    atMost('hashes computed', 5, most),
    none('answers other than 401 and 429 with Retry-After', odd),
    none('right passwords of a known device that were refused', keptOut),
    none('right passwords of an unknown device that were not answered with 429', strangers),
  ]
}

async function parallelResets({ app, urls, times }: AuthWorld): Promise<readonly Claim[]> {
  const rounds = times({ short: 4, byDefault: 50, full: 200 })
  let wrong = 0
  let others = 0
  let alive = 0
  for (let round = 0; round < rounds; round++) {
    const person = await aPerson(app)
    const token = newOneTimeToken()
    const expiresAt = new Date(app.clock.now().getTime() + 60_000)
    await app.tx((tx) =>
      putToken(tx, {
        purpose: 'reset',
        user_id: person.actor.userId,
        token_hash: oneTimeTokenHash(token),
        email: null,
        created_at: app.clock.now(),
        expires_at: expiresAt,
      }),
    )
    const chosen = (n: number): string => `a new good password ${n}`
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        client(pick(urls, n)).post('/api/auth/reset-password', { token, password: chosen(n) }),
      ),
    )
    const winners = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []))
    others += answers.filter(({ status }) => status !== 200 && status !== 400).length
    const works = async (n: number) =>
      (await client(pick(urls, n)).post('/api/auth/login', { email: person.email, password: chosen(n) })).status === 200
    const [winner = 0] = winners
    // The password is the winner's, not the next one's.
    if (winners.length !== 1 || !(await works(winner)) || (await works((winner + 1) % 20))) wrong++
    if ((await browserOf(urls[0], person.cookie).post('/api/auth/refresh')).status !== 401) alive++
  }
  return [
    none(`rounds of ${rounds} without exactly one success`, wrong),
    none('answers other than 200 and 400', others),
    none('sessions from before that live on', alive),
  ]
}

const MAX_SESSIONS = 20

async function manySignIns({ app, urls, times }: AuthWorld): Promise<readonly Claim[]> {
  const signIns = times({ short: 60, byDefault: 1_000, full: 5_000 })
  const person = await aPerson(app)
  const { email, password } = person
  const cookies: string[] = [person.cookie]
  let failed = 0
  for (let made = 0; made < signIns; made += 10) {
    const batch = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        logInWithPassword(app, { email, password }, { ...aCaller(), deviceToken: null }),
      ),
    )
    for (const one of batch)
      if (one.status === 'fulfilled')
        cookies.push(`svc_access=${one.value.tokens.accessToken}; svc_refresh=${one.value.tokens.refreshToken}`)
      else failed++
  }
  const { rows: active } = await app.db.query<{ n: number }>(
    `select count(*)::integer as n from sessions where user_id = $1 and ended_at is null`,
    [person.actor.userId],
  )
  const last = browserOf(urls[0], cookies.at(-1) ?? '')
  const listed = (await last.get('/api/auth/sessions')).as<{ items: unknown[] }>().items.length
  const me = (n: number, cookie: string) => browserOf(pick(urls, n), cookie).get('/api/me')
  // Parallel sign-ins end in another order than they answer: the newest batch is surely there, the oldest surely not.
  let kept = 0
  for (const [n, cookie] of cookies.slice(-10).entries()) if ((await me(n, cookie)).status === 200) kept++
  let survivors = 0
  const old = cookies.slice(0, -MAX_SESSIONS - 10)
  const step = Math.max(1, Math.floor(old.length / 100))
  for (let n = 0; n < old.length; n += step) {
    const cookie = old[n] ?? ''
    if ((await me(n, cookie)).status !== 401) survivors++
    if ((await browserOf(pick(urls, n), cookie).post('/api/auth/refresh')).status !== 401) survivors++
  }
  return [
    none(`of ${signIns} sign-ins that failed`, failed),
    claim(
      `${MAX_SESSIONS} sessions stay`,
      `${active[0]?.n ?? 0} in the database, ${listed} listed`,
      active[0]?.n === MAX_SESSIONS && listed === MAX_SESSIONS,
    ),
    atLeast('of the last ten alive', 10, kept),
    none('tokens of ended sessions that are accepted', survivors),
  ]
}

const TEN_MINUTES_MS = 600_000

async function clocksApart({ app, urls, times, connectionString }: AuthWorld): Promise<readonly Claim[]> {
  const rounds = times({ short: 2, byDefault: 20, full: 200 })
  const wrong = { successors: 0, thefts: 0, lost: 0, alive: 0, codes: 0, failures: 0, keptOut: 0 }
  for (const apartMs of [TEN_MINUTES_MS, -TEN_MINUTES_MS]) {
    const clock = {
      ...app.clock,
      now: () => new Date(app.clock.now().getTime() + apartMs),
      monotonicMs: () => performance.now(),
    }
    const config = { ...app.config, port: 0, logLevel: 'warn' as const }
    const other = await createApp(config, connectionString, 6, 'another clock', {
      clock,
      passwords: createPasswordHasher({ memoryKib: 8, passes: 1 }),
    })
    const service = await startService(other, connectionString, { digestion: 'manual', jobs: false, channels: [] })
    const both: readonly [string, string] = [urls[0], `http://127.0.0.1:${service.port}`]
    try {
      for (let round = 0; round < rounds; round++) {
        const person = await aPerson(pick([app, other], round))
        const { statuses, successors, winner } = await refreshAtOnce(both, person.cookie, 20)
        if (successors.size !== 1) wrong.successors++
        wrong.failures += statuses.filter((status) => status >= 500).length
        wrong.thefts += await theftsOf(app, person)
        // A token from the future is refused, and a refresh in the same process gives one that is not.
        let cookies: ReadonlyMap<string, string> = winner
        for (const url of both) {
          const browser = browserOf(url, cookies)
          if ((await browser.get('/api/me')).status !== 200) await browser.post('/api/auth/refresh')
          if ((await browser.get('/api/me')).status !== 200) wrong.lost++
          cookies = browser.cookies
        }
        // A session that ended in one process has ended in the other, and both accept the new password.
        const changed = browserOf(pick(both, round), cookies)
        await changed.post('/api/auth/refresh')
        const newPassword = `another good password ${round}`
        const { status } = await changed.post('/api/auth/change-password', {
          currentPassword: person.password,
          newPassword,
        })
        if (status !== 200) wrong.lost++
        for (const url of both) {
          await waitFor('the other process to hear of it', async () => {
            const { status } = await browserOf(url, person.cookie).get('/api/me')
            return status === 401
          }).catch(() => wrong.alive++)
          if ((await browserOf(url, cookies).post('/api/auth/refresh')).status === 200) wrong.alive++
          const entering = client(url)
          const { status } = await entering.post('/api/auth/login', { email: person.email, password: newPassword })
          if (status !== 200 || (await entering.get('/api/me')).status !== 200) wrong.keptOut++
        }
        wrong.codes += await acceptedLateCodes(other, both, apartMs)
      }
    } finally {
      await service.close()
      await other.close()
    }
  }
  return [
    none('rounds with another number of successors than one', wrong.successors),
    none('theft events', wrong.thefts),
    none('5xx', wrong.failures),
    none('sessions that a refresh does not continue', wrong.lost),
    none('tokens from before a new password that live on', wrong.alive),
    none('log-ins with the new password that are refused', wrong.keptOut),
    none('codes of another time that are accepted', wrong.codes),
  ]
}

/** Codes by the clock of an authenticator app that goes as the other process does: refused where the time differs. */
async function acceptedLateCodes(other: App, [url]: readonly [string, string], apartMs: number): Promise<number> {
  const person = await aPerson(other)
  const browser = browserOf(url, person.cookie)
  await browser.post('/api/auth/refresh')
  const setUp = await browser.post('/api/auth/2fa/setup', { password: person.password })
  const { otpauthUrl = '' } = setUp.as<{ otpauthUrl?: string }>()
  const phone = authenticatorApp(other, otpauthUrl)
  const token = phone.code(new Date(Date.now() + apartMs))
  return (await browser.post('/api/auth/2fa/verify', { token })).status === 200 ? 1 : 0
}
