import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import { drainedPerSecond, feedAndWatch } from '#bench/feed.ts'
import { target } from '#bench/intake.ts'
import { runLoad } from '#bench/load.ts'
import { makeEvents, STANDARD_SHAPE } from '#bench/payloads.ts'
import { startService } from '#bench/service.ts'
import { setUpSecondOrg } from '#bench/setup-project.ts'
import { runningEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import type { ProberFigures } from './overload-prober.ts'
import { waitFor } from '../kit/wait.ts'
import { QUIET, startTarget, waitUntilDigested } from './target.ts'
import { atLeast, atMost, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

const [TIMES, MIN_TIMES] = [10, 3]
/**
 * Each sends {@link PIPELINED} requests in one packet and waits for their answers, so many more of them would wait for each other
 * where the processors are the limit. With one request in a packet the generator takes 180 µs for each, with four 110.
 */
const CONNECTIONS = 16
const PIPELINED = 2
const [SHORT_SECONDS, FULL_SECONDS] = [15, 300]
/** Instead of the 3,000,000 requests that may wait by default: what is digested in so many seconds. The behaviour at the limit is the same. */
const BACKLOG_SECONDS = 4
/** The smallest that can be set. */
const MIN_BACKLOG = 1_000
/** The load afterwards, as a share of the peak, as in T-42. */
const USUAL = 0.5
const AFTER_MS = 12_000
/** Goals of docs/reliability.md, T-43. */
const [ACCEPTED_MS, REFUSED_MS, RECOVERED_S] = [2_000, 50, 10]

/**
 * T-43. As many events as the machine can send, ten times what it can digest or nearly, then the usual load. Claim: what is
 * accepted is accepted soon, the rest is refused at once, all of the usual load is accepted again ten seconds later, and nothing
 * acknowledged is lost. The generator shares the processors with the service, so threads that send little measure answers.
 */
export async function overload({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const seconds = Number(options['seconds'] ?? (full ? FULL_SECONDS : SHORT_SECONDS))
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const first = await startTarget({ dataDir })
  let { service } = first
  const probers: Prober[] = []
  try {
    const { project } = first
    const events = makeEvents({ ...STANDARD_SHAPE, seed })
    await feedAndWatch(service, project, { events }, 3_000)
    const peak = drainedPerSecond(await feedAndWatch(service, project, { events }, 6_000))
    const other = await setUpSecondOrg(first.url)
    await waitUntilDigested(first.url)
    await service.stop()
    const maxBacklog = Math.max(MIN_BACKLOG, Math.ceil(peak * BACKLOG_SECONDS))
    service = await startService({ dataDir, env: { ...QUIET, MAX_BACKLOG: String(maxBacklog) } })
    const { url } = service
    const same = startProber(target(url, project))
    const beside = startProber(target(url, other))
    probers.push(same, beside)
    const idle = await untilProbing([same, beside])
    const acknowledged = new Set<string>()
    const send = (ratePerSecond: number | null, durationMs: number, onAnswer: (status: number) => void = () => {}) =>
      runLoad({
        ...target(url, project),
        events,
        connections: CONNECTIONS,
        pipelined: ratePerSecond === null ? PIPELINED : 1,
        ratePerSecond,
        durationMs,
        onAccepted: (id) => acknowledged.add(id),
        onAnswer,
      })
    const before = turnsOf(service.pid)
    const over = await send(null, seconds * 1_000)
    const turns = turnsOf(service.pid)
    const [load = 0] = loadavg()
    const [meanwhile, besideMeanwhile] = [await same.figures('next'), await beside.figures('next')]
    const endedMs = performance.now()
    let lastRefusedMs = endedMs
    const after = await send(peak * USUAL, AFTER_MS, (status) => {
      if (status !== 200) lastRefusedMs = performance.now()
    })
    const afterwards = [await same.figures('stop'), await beside.figures('stop')]
    await waitUntilDigested(url)
    const probes = [...idle, meanwhile, besideMeanwhile, ...afterwards]
    for (const { ids } of probes) for (const id of ids) acknowledged.add(id)
    const stored = await storedIds(dataDir)
    const offered = over.sent / (over.elapsedMs / 1_000)
    const others = [over, after].reduce(
      (sum, { answers }) =>
        sum + [...answers].reduce((n, [status, count]) => n + ([200, 429, 503].includes(status) ? 0 : count), 0),
      0,
    )
    const lost = [...acknowledged].filter((id) => !stored.has(id)).length
    print(
      `  peak ${Math.round(peak)}/s, offered ${Math.round(offered)}/s for ${seconds} s, ${Math.round(over.accepted / (over.elapsedMs / 1_000))}/s of it accepted, load average ${load.toFixed(1)}`,
    )
    for (const [what, figures] of [
      ['idle', idle[0]],
      ['meanwhile', meanwhile],
      ['of another organisation', besideMeanwhile],
      ['afterwards', afterwards[0]],
    ] as const)
      if (figures !== undefined) print(`  probes, ${what}: ${describe(figures)}`)
    print(
      `  the main thread of the service ran ${Math.round(turns.ranMs - before.ranMs)} ms and waited ${Math.round(turns.waitedMs - before.waitedMs)} ms for a processor`,
    )
    return {
      claims: [
        atLeast(
          `offered, times the peak (${TIMES}, or what the machine can send beside the service)`,
          MIN_TIMES,
          Math.round((offered / peak) * 10) / 10,
        ),
        claim(
          'refused meanwhile',
          `${meanwhile.refused} of ${meanwhile.refused + meanwhile.accepted} probes`,
          meanwhile.refused > 0,
        ),
        atMost(
          'accepted, p99',
          ACCEPTED_MS,
          Math.max(
            ...[meanwhile, besideMeanwhile].map(({ acceptedP99Ms }) => acceptedP99Ms),
            over.latency.percentile(99),
          ),
          ' ms',
        ),
        atMost('refused, p99', REFUSED_MS, meanwhile.refusedP99Ms, ' ms'),
        atMost('last refusal after it', RECOVERED_S, (lastRefusedMs - endedMs) / 1_000, ' s'),
        atMost(
          'accepted afterwards, p99',
          ACCEPTED_MS,
          Math.max(...afterwards.map(({ acceptedP99Ms }) => acceptedP99Ms)),
          ' ms',
        ),
        none('other answers and broken connections', others + probes.reduce((sum, one) => sum + one.others, 0)),
        claim('0 acknowledged events lost', `${lost} of ${acknowledged.size}`, lost === 0),
      ],
    }
  } finally {
    for (const prober of probers) await prober.end()
    await service.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}

/** Figures of the time before the load, when both have started. */
async function untilProbing(probers: readonly Prober[]): Promise<ProberFigures[]> {
  for (const prober of probers) await waitFor('a probe', async () => (await prober.figures('next')).accepted > 0)
  await delay(2_000)
  return Promise.all(probers.map((prober) => prober.figures('next')))
}

const describe = (figures: ProberFigures): string =>
  `${figures.accepted} accepted, p99 ${Math.round(figures.acceptedP99Ms)} ms, ${figures.refused} refused, p50 ${Math.round(figures.refusedP50Ms)}, p99 ${Math.round(figures.refusedP99Ms)} ms`

/** How long the main thread of a process ran, and waited for a processor although it could have run. */
function turnsOf(pid: number): { readonly ranMs: number; readonly waitedMs: number } {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number)
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 }
}

type Prober = { figures(what: 'next' | 'stop'): Promise<ProberFigures>; end(): Promise<unknown> }

/** Sends from another thread: this one is busy with the load. */
function startProber(workerData: ReturnType<typeof target>): Prober {
  const worker = new Worker(new URL('./overload-prober.ts', import.meta.url), { workerData })
  return {
    figures: (what) =>
      new Promise((resolve, reject) => {
        worker.once('error', reject)
        worker.once('message', (figures: ProberFigures) => {
          worker.off('error', reject)
          resolve(figures)
        })
        worker.postMessage(what)
      }),
    end: () => worker.terminate(),
  }
}

async function storedIds(dataDir: string): Promise<Set<string>> {
  const running = runningEmbeddedPostgres(dataDir)
  if (running === null) throw new Error('the database does not run')
  const client = new pg.Client({ connectionString: running.connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: string }>(`select replace(event_id::text, '-', '') as id from events`)
    return new Set(rows.map(({ id }) => id))
  } finally {
    await client.end()
  }
}
