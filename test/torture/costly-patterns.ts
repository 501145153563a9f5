import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type BenchProject, setUpSecondOrg } from '#bench/setup-project.ts'
import { honestClient } from './honest.ts'
import { envelopePath, startTarget, waitUntilDigested } from './target.ts'
import { atMost, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

/** Goals of docs/reliability.md, T-50. */
const MIN_HONEST_MS = 250
const MAX_LAG_S = 10

/** Linear in the text, and up to 80 µs and more for each of its characters. */
const REFUSED = [
  '(?i)(\\pL{1,500}){1,2}!',
  '\\pL{900}[0-9]',
  '(?i)(?:\\pL{100}\\pL{100}){1,5}',
  'x[^y]*y|x',
  '(?:.{0,300}a){1,3}b',
  '.{0,480}x.{0,480}',
  '((a{0,30}){0,30})!',
  '[a-z]{1,900}@',
]
/** Slow only with texts that a trial does not know, such as {@link SLOW_TEXT}: they can be saved. */
const ACCEPTED = Array.from({ length: 3 }, (_, n) => `(?:[a-c][x-z]){1,${300 - n}}[0-9]`)
const SECRET = 'ax7'
const SLOW_TEXT = `${'ax'.repeat(100_000)}${SECRET}`

const Issues = z.object({ items: z.array(z.object({ id: z.string(), title: z.string() })) })
const Intake = z.object({ costly_rules: z.array(z.object({ texts: z.number() })) })

/**
 * T-50. Claim: expressions of one organisation that take long are refused, or filter what they cannot search in time;
 * other organisations are answered and digested meanwhile.
 */
export async function costlyPatterns({ full }: TortureArgs): Promise<Verdict> {
  const { service, project, url } = await startTarget()
  const other = await setUpSecondOrg(url)
  const honest = honestClient({ url, project: other })
  try {
    await delay(2_000)
    await honest.figures('next')
    await delay(5_000)
    const idle = await honest.figures('next')
    const attack = new Attack(url, project)
    await attack.save(ACCEPTED)
    const ended = attack.run(full ? 60_000 : 20_000)
    const lags = await markersOf(url, other, full ? 12 : 4)
    await ended
    const meanwhile = await honest.figures('stop')
    await waitUntilDigested(url)
    const leaked = await attack.leaked()
    const costly = Intake.parse(await get(url, project, `/api/projects/${project.projectId}/intake`)).costly_rules
    const { statuses, events } = attack
    const of = (status: number): number => statuses.get(status) ?? 0
    print(
      `  previews and saves: ${of(400)} × 400, ${of(200)} × 200, ${of(429)} × 429; ${events} events of ${SLOW_TEXT.length} characters`,
    )
    return {
      claims: [
        none('costly expressions saved', attack.saved),
        claim(
          'only 200, 400 and 429',
          [...statuses.keys()].join(', '),
          [...statuses.keys()].every((one) => [200, 400, 429].includes(one)),
        ),
        none('stored texts with what a rule should have removed', leaked),
        claim('a note names the rules', costly.length, costly.length > 0),
        atMost('honest p99', Math.max(2 * idle.p99Ms, MIN_HONEST_MS), meanwhile.p99Ms, ' ms'),
        none('honest requests refused', meanwhile.bad),
        atMost('events of another organisation are shown within', MAX_LAG_S, Math.max(...lags), ' s'),
      ],
    }
  } finally {
    await service.stop()
  }
}

/** Saves, previews and events of one organisation. */
class Attack {
  readonly statuses = new Map<number, number>()
  /** Costly expressions that were accepted. */
  saved = 0
  events = 0
  readonly #url: string
  readonly #project: BenchProject

  constructor(url: string, project: BenchProject) {
    this.#url = url
    this.#project = project
  }

  async save(expressions: readonly string[]): Promise<number> {
    return this.#call('PATCH', 'settings', expressions)
  }

  async run(ms: number): Promise<void> {
    const until = performance.now() + ms
    const loop = async (step: (n: number) => Promise<unknown>): Promise<void> => {
      for (let n = 0; performance.now() < until; n++) await step(n)
    }
    const costly = (n: number): string => REFUSED[n % REFUSED.length] ?? ''
    await Promise.all([
      loop(async (n) => {
        if ((await this.save([costly(n)])) === 200) this.saved++
      }),
      ...[1, 2, 3, 4].map((start) => loop((n) => this.#call('POST', 'scrubbing/preview', [costly(start + n)]))),
      ...[1, 2].map(() => loop(() => this.#call('POST', 'scrubbing/preview', ACCEPTED))),
      loop(async () => {
        const fields = { message: SLOW_TEXT, extra: { note: SLOW_TEXT } }
        await sendEvent(this.#url, this.#project, fields)
        this.events++
        await delay(50)
      }),
    ])
  }

  /** Looks at the newest event of each issue. @returns the number of those in which the text survived */
  async leaked(): Promise<number> {
    const { items } = Issues.parse(
      await get(this.#url, this.#project, `/api/projects/${this.#project.projectId}/issues`),
    )
    let leaked = 0
    for (const { id } of items) {
      const issue = await get(this.#url, this.#project, `/api/issues/${id}`)
      if (JSON.stringify(issue).includes(SECRET)) leaked++
    }
    return items.length === 0 ? 1 : leaked
  }

  async #call(method: string, what: string, expressions: readonly string[]): Promise<number> {
    const response = await fetch(`${this.#url}/api/projects/${this.#project.projectId}/${what}`, {
      method,
      headers: { 'content-type': 'application/json', origin: this.#url, cookie: this.#project.cookie },
      body: JSON.stringify({
        scrub_rules: expressions.map((regex) => ({ path: '**', pattern: 'custom', regex, action: 'replace' })),
      }),
    })
    await response.arrayBuffer()
    this.statuses.set(response.status, (this.statuses.get(response.status) ?? 0) + 1)
    if (response.status === 429) await delay(100)
    return response.status
  }
}

/** Sends events of their own kinds, one after the other. @returns the seconds until each was shown */
async function markersOf(url: string, project: BenchProject, count: number): Promise<number[]> {
  const seconds: number[] = []
  for (let n = 0; n < count; n++) {
    const title = `marker ${'abcdefghijkl'[n]}`
    const startedMs = performance.now()
    await sendEvent(url, project, { message: title, fingerprint: [title] })
    for (;;) {
      const { items } = Issues.parse(await get(url, project, `/api/projects/${project.projectId}/issues`))
      const passed = (performance.now() - startedMs) / 1_000
      if (passed < 60 && !items.some((one) => one.title === title)) {
        await delay(100)
        continue
      }
      seconds.push(passed)
      break
    }
    await delay(3_000)
  }
  return seconds
}

async function get(url: string, { cookie }: BenchProject, path: string): Promise<unknown> {
  const response = await fetch(url + path, { headers: { cookie } })
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return response.json()
}

async function sendEvent(url: string, project: BenchProject, event: Record<string, unknown>): Promise<void> {
  const response = await fetch(url + envelopePath({ url, project }), {
    method: 'POST',
    body: `{}\n{"type":"event"}\n${JSON.stringify(event)}`,
  })
  await response.arrayBuffer()
}
