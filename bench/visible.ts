import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type BenchArgs, type BenchResult, percentile } from './bench.ts'
import { waitUntilDrained } from './feed.ts'
import { describe, target } from './intake.ts'
import { runLoad } from './load.ts'
import { makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { startService } from './service.ts'
import { type BenchProject, setUpProject } from './setup-project.ts'

export const summary =
  'P5: from the acknowledgement of an event to its issue in GET /api/issues, while 500/s arrive (--seconds=30, --rate=500, --long)'

const WARM_UP_MS = 5_000
/** Four probes a second, each of a new issue, so that nothing else can bring it into the list. */
const PROBE_EVERY_MS = 250
const ASK_EVERY_MS = 5
const GIVE_UP_MS = 20_000

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const seconds = Number(options['seconds'] ?? (long ? 300 : 30))
  const ratePerSecond = Number(options['rate'] ?? 500)
  const events = makeEvents(STANDARD_SHAPE)
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' } })
  try {
    const project = await setUpProject(service.url)
    const load = (durationMs: number) =>
      runLoad({ ...target(service.url, project), events, connections: 32, ratePerSecond, durationMs })
    await load(WARM_UP_MS)
    await waitUntilDrained(service)
    const loading = load(seconds * 1000)
    const until = performance.now() + seconds * 1000
    const probes: Promise<number>[] = []
    const list = new IssueList(service.url, project.cookie)
    while (performance.now() < until) {
      probes.push(probe(service.url, project, probes.length, list))
      await delay(PROBE_EVERY_MS)
    }
    const times = await Promise.all(probes)
    const { accepted, elapsedMs } = await loading
    return {
      figures: {
        'visible after, p50': { value: percentile(times, 50), unit: 'ms' },
        'visible after, p99': { value: percentile(times, 99), unit: 'ms', goal: '≤1,000 ms (P5)' },
        'visible after, slowest': { value: Math.max(...times), unit: 'ms' },
        probes: { value: times.length, unit: '' },
        'accepted meanwhile': { value: accepted / (elapsedMs / 1000), unit: 'requests/s' },
      },
      payload: describe(events),
      durability: 'fsync and synchronous_commit on',
      postgres: embeddedPostgresVersion(),
      notes: [
        `a probe is an event of a new issue; the list is asked for again ${ASK_EVERY_MS} ms after each answer, so the time includes that of one answer`,
        'load generator, service and database on the same machine',
      ],
    }
  } finally {
    await service.stop()
  }
}

/**
 * The same beside a constant load, for projects of one organisation in turn: times until new issues are in the list, four a
 * second of each project; 20 s for those that never were.
 */
export async function measureVisible(
  url: string,
  projects: readonly BenchProject[],
  seconds: number,
): Promise<number[]> {
  const list = new IssueList(url, projects[0]?.cookie ?? '')
  const probes: Promise<number>[] = []
  const run = Date.now() % 1_000_000
  for (const until = performance.now() + seconds * 1000; performance.now() < until;) {
    for (const project of projects) {
      probes.push(probe(url, project, run * 1_000 + probes.length, list))
      await delay(PROBE_EVERY_MS / projects.length)
    }
  }
  const seen = await Promise.allSettled(probes)
  return seen.map((one) => (one.status === 'fulfilled' ? one.value : GIVE_UP_MS))
}

const List = z.object({ items: z.array(z.object({ title: z.string() })) })

/**
 * The newest issues of an organisation, asked for while a probe waits for its own, once for all that wait: lists for each
 * would be a load that grows with what is measured.
 */
class IssueList {
  readonly #url: string
  readonly #cookie: string
  readonly #waiting = new Map<string, { readonly since: number; readonly end: (isSeen: boolean) => void }>()
  #isAsking = false

  constructor(url: string, cookie: string) {
    this.#url = url
    this.#cookie = cookie
  }

  /** Resolves with whether an issue with this title was seen in time. */
  shows(title: string): Promise<boolean> {
    return new Promise((end) => {
      this.#waiting.set(title, { since: performance.now(), end })
      if (!this.#isAsking) void this.#ask().catch(() => this.#giveUp())
    })
  }

  async #ask(): Promise<void> {
    this.#isAsking = true
    while (this.#waiting.size > 0) {
      const answer = await fetch(`${this.#url}/api/issues?sort=-first_seen&limit=100`, {
        headers: { cookie: this.#cookie },
      })
      const { items } = List.parse(await answer.json())
      for (const [title, { since, end }] of this.#waiting) {
        const isSeen = items.some((item) => item.title.includes(title))
        if (!isSeen && performance.now() - since < GIVE_UP_MS) continue
        this.#waiting.delete(title)
        end(isSeen)
      }
      await delay(ASK_EVERY_MS)
    }
    this.#isAsking = false
  }

  #giveUp(): void {
    this.#isAsking = false
    for (const { end } of this.#waiting.values()) end(false)
    this.#waiting.clear()
  }
}

/**
 * Sends an event of a new issue; returns the milliseconds from its acknowledgement until the first page shows the
 * issue.
 */
async function probe(url: string, project: BenchProject, number: number, list: IssueList): Promise<number> {
  const type = `Probe${number}Error`
  const event = {
    timestamp: Date.now() / 1000,
    platform: 'node',
    exception: {
      values: [{ type, value: 'seen?', stacktrace: { frames: [{ function: type, filename: `${type}.js` }] } }],
    },
  }
  const answer = await fetch(`${url}/api/${project.number}/envelope/?sentry_key=${project.publicKey}`, {
    method: 'POST',
    body: `{}\n{"type":"event"}\n${JSON.stringify(event)}`,
  })
  if (!answer.ok) throw new Error(`a probe was answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
  const startedMs = performance.now()
  if (await list.shows(type)) return performance.now() - startedMs
  throw new Error(`an acknowledged event was not in the list after ${GIVE_UP_MS / 1000} s`)
}
