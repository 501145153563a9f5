import { readMetric } from '#bench/setup-project.ts'
import { freshTally, tryBody } from './fuzz-envelopes.ts'
import { type JsonCase, jsonCases } from './json-cases.ts'
import { sendRaw } from './raw-http.ts'
import { startTarget, waitUntilDigested } from './target.ts'
import { atMost, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

export type Judged = {
  readonly accepted: number
  readonly refused: number
  /** Requests answered with 500 and above, or without an answer. */
  readonly wrong: readonly string[]
  readonly slowestMs: number
}

/** Sends bodies one after the other; each must be accepted or refused by a 4xx. */
export async function sendCases(url: string, cases: readonly JsonCase[]): Promise<Judged> {
  let accepted = 0
  let refused = 0
  let slowestMs = 0
  const wrong: string[] = []
  for (const { name, path, body } of cases) {
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\norigin: ${url}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
    const { statuses, ms } = await sendRaw(url, Buffer.concat([Buffer.from(head, 'latin1'), body]), {
      patienceMs: 30_000,
      oneAnswer: true,
    })
    const [status = 0] = statuses
    if (status >= 200 && status < 300) accepted++
    else if (status >= 400 && status < 500) refused++
    else wrong.push(`${name}: ${status === 0 ? 'no answer' : status}`)
    slowestMs = Math.max(slowestMs, ms)
  }
  return { accepted, refused, wrong, slowestMs }
}

/** The same bodies through the pure half of the service in this process, which can detect a touched prototype. */
async function digestHere(cases: readonly JsonCase[]): Promise<number> {
  const tally = freshTally()
  for (const { name, path, body } of cases) {
    if (path.startsWith('/api/auth/')) continue
    await tryBody(name, body, path.includes('/store/') ? 'store' : 'envelope', 'none', tally)
  }
  for (const [crash] of tally.crashes) print(`  ${crash}`)
  return tally.crashes.size + (Reflect.get({}, 'polluted') === undefined ? 0 : 1)
}

/**
 * T-11. Claim: accepted or refused, never 5xx; digestion processes everything accepted, and no prototype is changed.
 */
export async function hostileJson({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const count = Number(options['count'] ?? (full ? 2_000 : 600))
  const { service, project, url } = await startTarget()
  try {
    const target = { url, project }
    const cases = jsonCases(target, seed, count)
    const { accepted, refused, wrong, slowestMs } = await sendCases(url, cases)
    for (const line of wrong.slice(0, 20)) print(`  ${line}`)
    await waitUntilDigested(url)
    return {
      claims: [
        claim(
          `${cases.length} cases accepted or refused`,
          `${accepted} + ${refused}`,
          accepted + refused === cases.length,
        ),
        none('5xx or no answer', wrong.length),
        none('in quarantine (RangeError and the like)', await readMetric(url, 'faultline_digest_quarantined_total')),
        none('crashes and touched prototypes in this process', await digestHere(cases)),
        atMost('slowest answer', 1_000, slowestMs, ' ms'),
      ],
    }
  } finally {
    await service.stop()
  }
}
