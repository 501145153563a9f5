import { median } from '#bench/bench.ts'
import { client } from '#test/kit/client.ts'
import { aFounder } from '#test/kit/founder.ts'
import type { AuthRow, AuthWorld } from './auth-rows.ts'
import { atMost, type Claim, none } from './torture.ts'

/** Rows about what the time of an answer tells. */
export const rows: readonly AuthRow[] = [
  { id: 'T-26', summary: 'known and unknown users get the same answers, in the same time', run: timing },
]

type Question = {
  readonly name: string
  readonly ask: (url: string, email: string) => ReturnType<ReturnType<typeof client>['get']>
}

const QUESTIONS: readonly Question[] = [
  {
    name: 'log-in',
    ask: (url, email) => client(url).post('/api/auth/login', { email, password: 'certainly the wrong one' }),
  },
  { name: 'forgot-password', ask: (url, email) => client(url).post('/api/auth/forgot-password', { email }) },
]

/** Headers that differ between any two answers. */
const VARYING = new Set(['date', 'x-request-id', 'content-security-policy'])
const headersOf = (headers: Headers): string =>
  [...headers]
    .filter(([name]) => !VARYING.has(name))
    .map((pair) => pair.join(': '))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join('\n')

/** Alternates between a known and an unknown address, so that the load of the machine is the same for both. */
async function timing({ urls, form, times }: AuthWorld): Promise<readonly Claim[]> {
  const pairs = times({ short: 3, byDefault: 60, full: 2_000 })
  // Signed up through the service: its hash costs what the hash for an unknown address costs.
  const person = await aFounder(urls[0])
  const claims: Claim[] = []
  for (const { name, ask } of QUESTIONS) {
    const tookMs: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
    let different = 0
    for (let n = 0; n < pairs; n++) {
      const answers: string[] = []
      for (const who of n % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
        const email = who === 'known' ? person.email : `unknown-${n}@example.com`
        const startedMs = performance.now()
        const { status, text, headers } = await ask(urls[0], email)
        tookMs[who].push(performance.now() - startedMs)
        answers.push(`${status} ${text} ${headersOf(headers)}`)
      }
      if (answers[0] !== answers[1]) different++
    }
    claims.push(none(`pairs of answers to ${name} that differ`, different))
    if (form === 'short') continue
    const difference = Math.abs(median(tookMs.known) - median(tookMs.unknown))
    claims.push(atMost(`difference of the medians of ${name}`, 5, difference, ' ms'))
  }
  return claims
}
