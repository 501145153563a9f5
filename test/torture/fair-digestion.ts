import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { percentile } from '#bench/bench.ts'
import { addProject, type BenchProject, readMetric, setUpSecondOrg } from '#bench/setup-project.ts'
import { measureVisible } from '#bench/visible.ts'
import { honestClient } from './honest.ts'
import { countStored, envelopePath, startTarget, waitUntilDigested } from './target.ts'
import { atMost, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

/** Goals of docs/reliability.md, T-51. */
const MIN_VISIBLE_MS = 250
const MIN_HONEST_MS = 250
/** Projects of one part of the spool share batches. */
const PARTS = 4
/** Maximum number of logs in the containers of one request. */
const MAX_LOGS = 10_000

/** Expressions that a trial does not find slow, but the text of {@link COSTLY} makes so. */
const RULES = Array.from({ length: 3 }, (_, n) => `(?:[a-c][x-z]){1,${300 - n}}[0-9]`)

const Totals = z.object({
  totals: z.array(z.object({ outcome: z.string(), reason: z.string(), category: z.string(), quantity: z.number() })),
})

/**
 * T-51. Claim: a project that sends expensive input of all kinds, more than can be digested, delays itself; events of
 * another organisation are shown as before, whichever part of the spool they are in.
 */
export async function fairDigestion({ full, options }: TortureArgs): Promise<Verdict> {
  const { service, project, url } = await startTarget(
    options['log'] === undefined ? {} : { env: { LOG_LEVEL: options['log'] } },
  )
  const other = await setUpSecondOrg(url)
  const beside = await projectOfPart(url, other, (part) => part === project.number % PARTS)
  const apart = await projectOfPart(url, other, (part) => part !== project.number % PARTS)
  const honest = honestClient({ url, project: apart })
  try {
    await setRules(url, project)
    const seconds = full ? 60 : 20
    const watch = (forSeconds: number): Promise<number[]> => measureVisible(url, [beside, apart], forSeconds)
    await watch(3)
    await honest.figures('next')
    const idle = await watch(seconds / 2)
    const idleHonest = await honest.figures('next')
    const attack = new Attack(url, project)
    const attacking = attack.run(seconds * 1_000)
    await delay(1_000)
    const meanwhile = await watch(seconds - 2)
    await attacking
    const lagS = await readMetric(url, 'faultline_spool_backlog_age_seconds')
    const honestMeanwhile = await honest.figures('stop')
    print(`  attack ended: ${meanwhile.length} probes, ${lagS.toFixed(0)} s behind`)
    await waitUntilDigested(url, 120_000)
    const stored = await countStored(url)
    const { totals } = Totals.parse(await get(url, project, `/api/projects/${project.projectId}/intake?range=1h`))
    const logs = totals.filter(({ category }) => category === 'log_item')
    const of = (outcome: string): number =>
      logs.reduce((sum, one) => sum + (one.outcome === outcome ? one.quantity : 0), 0)
    const probes = await countEvents(url, other)
    print(
      `  sent: ${attack.events} events, ${attack.requests - attack.events} requests of logs (${attack.logs} entries); ${attack.refused} refused`,
    )
    print(
      `  visible: idle p50 ${ms(percentile(idle, 50))}, p99 ${ms(percentile(idle, 99))}; meanwhile p50 ${ms(percentile(meanwhile, 50))}, p99 ${ms(percentile(meanwhile, 99))}, slowest ${ms(Math.max(...meanwhile))} of ${meanwhile.length}`,
    )
    return {
      claims: [
        atMost('visible, p99', Math.max(2 * percentile(idle, 99), MIN_VISIBLE_MS), percentile(meanwhile, 99), ' ms'),
        atMost('honest p99', Math.max(2 * idleHonest.p99Ms, MIN_HONEST_MS), honestMeanwhile.p99Ms, ' ms'),
        none('honest requests refused', honestMeanwhile.bad),
        claim('the attack was more than was digested', `${lagS.toFixed(0)} s behind`, lagS > 2),
        claim('0 accepted events lost', attack.events + probes - stored, attack.events + probes === stored),
        claim(
          'each log entry has an outcome',
          `${of('accepted')} accepted, ${of('invalid')} too many`,
          of('accepted') === attack.acceptedLogs && of('accepted') + of('invalid') === attack.logs,
        ),
      ],
    }
  } finally {
    await service.stop()
  }
}

const ms = (value: number): string => `${value.toFixed(0)} ms`

/** Expensive requests of one project, all at once. */
class Attack {
  events = 0
  requests = 0
  refused = 0
  logs = 0
  acceptedLogs = 0
  readonly #url: string
  readonly #project: BenchProject
  readonly #huge = gzipSync(envelopeOf('event', hugeEvent()))
  readonly #costly = gzipSync(envelopeOf('event', { message: 'costly', extra: { note: COSTLY } }))
  /** A few megabytes that are 80 MB unpacked, of which only the first 10,000 entries are read. */
  readonly #packed = gzipSync(logsOf(190, 1_000))
  readonly #logs = gzipSync(logsOf(10, 1_000))

  constructor(url: string, project: BenchProject) {
    this.#url = url
    this.#project = project
  }

  async run(forMs: number): Promise<void> {
    const until = performance.now() + forMs
    const loop = async (body: Buffer, pauseMs: number, logs: number): Promise<void> => {
      while (performance.now() < until) {
        if (await this.#send(body)) {
          this.requests++
          this.logs += logs
          this.acceptedLogs += Math.min(logs, MAX_LOGS)
          if (logs === 0) this.events++
        } else this.refused++
        await delay(pauseMs)
      }
    }
    await Promise.all([
      loop(this.#huge, 50, 0),
      loop(this.#huge, 50, 0),
      loop(this.#costly, 100, 0),
      loop(this.#logs, 500, 10_000),
      loop(this.#packed, 1_500, 190_000),
    ])
  }

  async #send(body: Buffer): Promise<boolean> {
    const response = await fetch(this.#url + envelopePath({ url: this.#url, project: this.#project }), {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body,
    })
    await response.arrayBuffer()
    return response.status === 200
  }
}

const COSTLY = `${'ax'.repeat(100_000)}7`

const envelopeOf = (type: string, payload: unknown): string =>
  `{}\n${JSON.stringify({ type })}\n${JSON.stringify(payload)}\n`

/** Near the limits of bytes and values. */
function hugeEvent(): Record<string, unknown> {
  const frame = (n: number) => ({
    function: `call${n}`,
    filename: `src/module${n}.js`,
    lineno: n,
    vars: Object.fromEntries(Array.from({ length: 20 }, (_, v) => [`name${v}`, `value ${n * v} of user@example.com`])),
  })
  return {
    exception: {
      values: [
        { type: 'HugeError', value: 'huge', stacktrace: { frames: Array.from({ length: 250 }, (_, n) => frame(n)) } },
      ],
    },
    extra: Object.fromEntries(Array.from({ length: 8_000 }, (_, n) => [`key${n}`, [n, `text ${n}`, { deep: n }]])),
  }
}

function logsOf(containers: number, entries: number): string {
  const log = (n: number) => ({
    timestamp: Date.now() / 1_000,
    trace_id: randomBytes(16).toString('hex'),
    level: 'info',
    body: `user ${n} opened the page of a product and waited for it`,
    attributes: Object.fromEntries(
      Array.from({ length: 5 }, (_, a) => [`app.key${a}`, { value: `value ${a} of it`, type: 'string' }]),
    ),
  })
  const payload = JSON.stringify({ items: Array.from({ length: entries }, (_, n) => log(n)) })
  const header = JSON.stringify({
    type: 'log',
    item_count: entries,
    content_type: 'application/vnd.sentry.items.log+json',
    length: Buffer.byteLength(payload),
  })
  return `{}\n${`${header}\n${payload}\n`.repeat(containers)}`
}

/** Adds projects to the organisation until one is in a wanted part. */
async function projectOfPart(
  url: string,
  first: BenchProject,
  isWanted: (part: number) => boolean,
): Promise<BenchProject> {
  let project = first
  for (let n = 0; !isWanted(project.number % PARTS); n++) project = await addProject(url, first.cookie, `Other ${n}`)
  return project
}

async function setRules(url: string, project: BenchProject): Promise<void> {
  const response = await fetch(`${url}/api/projects/${project.projectId}/settings`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', origin: url, cookie: project.cookie },
    body: JSON.stringify({
      scrub_rules: RULES.map((regex) => ({ path: 'extra.note', pattern: 'custom', regex, action: 'replace' })),
    }),
  })
  if (!response.ok) throw new Error(`the rules were refused with ${response.status}: ${await response.text()}`)
}

const Events = z.object({ totals: Totals.shape.totals })

/** Events accepted from all projects of an organisation. */
async function countEvents(url: string, { cookie }: BenchProject): Promise<number> {
  const { items } = z
    .object({ items: z.array(z.object({ id: z.string() })) })
    .parse(await get(url, { cookie }, '/api/projects'))
  let events = 0
  for (const { id } of items) {
    const { totals } = Events.parse(await get(url, { cookie }, `/api/projects/${id}/intake?range=1h`))
    for (const { outcome, category, quantity } of totals)
      if (outcome === 'accepted' && category === 'error') events += quantity
  }
  return events
}

async function get(url: string, { cookie }: Pick<BenchProject, 'cookie'>, path: string): Promise<unknown> {
  const response = await fetch(url + path, { headers: { cookie } })
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return response.json()
}
