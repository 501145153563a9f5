/**
 * `npm run load`: sends events as an SDK does, faster and faster, until answers or digestion are too slow, and says what
 * the machine takes. By default to a service that it starts in a scratch folder; with --dsn to a running one.
 */
import { readdirSync, statSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { runLoad } from './load.ts'
import { makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { lineOf, nextRate, type Limits, type Step, verdictOf } from './ramp.ts'
import { startService } from './service.ts'
import { setUpProject, sumOfMetric } from './setup-project.ts'

const HELP = `npm run load [-- --dsn=<dsn>] [--size=20000] [--seconds=10] [--max-rate=20000]

Sends events faster and faster and says how many a second this machine takes, and what is full first.

--dsn=<dsn>          a project of a running service, which keeps the events (default: a scratch service on this machine)
--size=<bytes>       JSON of an event (default: 20000)
--seconds=<n>        length of a step (default: 10)
--p99-ms=<n>         limit of the slowest answer in a hundred (default: 200)
--lag-seconds=<n>    limit of events that wait for digestion (default: 5)
--start-rate, --max-rate=<n>   events a second (default: 200, 20000)

With --dsn, METRICS_TOKEN reads how many events wait. The address must be the service's own, without TLS.
`

const CONNECTIONS = 128
/** After so long a backlog counts as not emptied. */
const SETTLE_MS = 20_000

type Target = {
  readonly url: string
  readonly projectNumber: number
  readonly publicKey: string
  /** Where the files of the database are; null for a service that is not ours. */
  readonly dataDir: string | null
}

const { values: options } = parseArgs({
  options: {
    dsn: { type: 'string' },
    size: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '10' },
    'p99-ms': { type: 'string', default: '200' },
    'lag-seconds': { type: 'string', default: '5' },
    'start-rate': { type: 'string', default: '200' },
    'max-rate': { type: 'string', default: '20000' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

try {
  if (options.help) process.stdout.write(HELP)
  else if (options.dsn === undefined) await onScratch()
  else await ramp(targetOf(options.dsn))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

function numberOf(
  name: 'size' | 'seconds' | 'p99-ms' | 'lag-seconds' | 'start-rate' | 'max-rate',
  min: number,
): number {
  const value = Number(options[name])
  if (Number.isFinite(value) && value >= min) return value
  throw new Error(`--${name} must be a number of at least ${min}`)
}

function targetOf(dsn: string): Target {
  const url = URL.canParse(dsn) ? new URL(dsn) : null
  const projectNumber = Number(url?.pathname.slice(1))
  if (url === null || url.username === '' || !Number.isInteger(projectNumber))
    throw new Error('--dsn must be the DSN of a project, such as http://<key>@127.0.0.1:8000/1')
  if (url.protocol !== 'http:')
    throw new Error('--dsn must begin with http: measure the service itself, not the proxy with TLS in front of it')
  return { url: url.origin, projectNumber, publicKey: url.username, dataDir: null }
}

async function onScratch(): Promise<void> {
  process.stdout.write('Starting a scratch service\n')
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0', FAULTLINE_CANARY_MINUTES: '0' } })
  const stop = (): void => void service.stop().then(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  try {
    const { number, publicKey } = await setUpProject(service.url)
    await ramp({ url: service.url, projectNumber: number, publicKey, dataDir: service.dataDir })
  } finally {
    await service.stop()
  }
}

async function ramp(target: Target): Promise<void> {
  const limits: Limits = { p99Ms: numberOf('p99-ms', 1), lagSeconds: numberOf('lag-seconds', 0.1) }
  const sizeBytes = numberOf('size', 500)
  const durationMs = numberOf('seconds', 1) * 1000
  const [startRate, maxRate] = [numberOf('start-rate', 1), numberOf('max-rate', 1)]
  const events = makeEvents({ ...STANDARD_SHAPE, sizeBytes })
  const memory = (totalmem() / 2 ** 30).toFixed(0)
  process.stdout.write(
    `Steps of ${durationMs / 1000} s to ${target.url}; this machine has ${availableParallelism()} cores and ${memory} GiB\n`,
  )
  if ((await figures(target)) === null)
    process.stdout.write('How many events wait cannot be read: set METRICS_TOKEN. Only answers are measured.\n')
  const send = (ratePerSecond: number, ms: number) =>
    runLoad({ ...target, events, connections: CONNECTIONS, ratePerSecond, durationMs: ms })
  // Caches and compiled code.
  await send(Math.min(startRate, maxRate), Math.min(durationMs, 3_000))
  await settled(target)
  const before = { bytes: databaseBytes(target), stored: (await figures(target))?.digested ?? 0 }

  const steps: Step[] = []
  for (
    let rate = nextRate(steps, limits, startRate, maxRate);
    rate !== null;
    rate = nextRate(steps, limits, startRate, maxRate)
  ) {
    const start = await figures(target)
    const startedMs = performance.now()
    const result = await send(rate, durationMs)
    const end = await figures(target)
    const seconds = (performance.now() - startedMs) / 1000
    const digestedPerSecond = start === null || end === null ? 0 : (end.digested - start.digested) / seconds
    const step: Step = {
      ratePerSecond: rate,
      sentPerSecond: result.sent / (result.elapsedMs / 1000),
      refused: new Map([...result.answers].filter(([status]) => status !== 200)),
      p50Ms: result.latency.percentile(50),
      p99Ms: result.latency.percentile(99),
      waiting:
        end === null
          ? null
          : { events: end.waiting, seconds: end.waiting === 0 ? 0 : end.waiting / Math.max(digestedPerSecond, 1) },
    }
    steps.push(step)
    process.stdout.write(`${lineOf(step, limits)}\n`)
    await settled(target)
  }

  process.stdout.write(`\n${verdictOf(steps, limits, sizeBytes).join('\n')}\n`)
  const bytes = databaseBytes(target)
  const stored = ((await figures(target))?.digested ?? 0) - before.stored
  if (bytes !== null && before.bytes !== null && stored > 0) {
    const perEvent = (bytes - before.bytes) / stored / 1000
    process.stdout.write(`An event took ${perEvent.toFixed(1)} kB of disk, before its day is packed.\n`)
  }
  process.stdout.write(
    'Generator and service shared this machine unless --dsn named another: docs/install.md, sizing.\n',
  )
}

type Figures = { readonly digested: number; readonly waiting: number }

/** Figures of the service; null where it does not answer them. */
async function figures({ url }: Target): Promise<Figures | null> {
  const token = process.env['METRICS_TOKEN'] ?? ''
  const answer = await fetch(`${url}/-/metrics`, token === '' ? {} : { headers: { authorization: `Bearer ${token}` } })
  const text = await answer.text()
  if (!answer.ok) return null
  return {
    digested: sumOfMetric(text, 'faultline_digest_events_total'),
    waiting: sumOfMetric(text, 'faultline_spool_backlog_entries'),
  }
}

/** Waits until nothing waits, so that a step does not start with the rest of the one before. */
async function settled(target: Target): Promise<void> {
  const deadlineMs = performance.now() + SETTLE_MS
  while (performance.now() < deadlineMs) {
    const now = await figures(target)
    if (now === null || now.waiting === 0) return
    await delay(200)
  }
}

/** Tables and indexes, without the log of the database, which is bounded. */
function databaseBytes({ dataDir }: Target): number | null {
  if (dataDir === null) return null
  const tables = join(dataDir, 'postgres', 'base')
  return readdirSync(tables, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    )
}
