import { hostname } from 'node:os'
import { fingerprint } from '#server/grouping/grouping.ts'
import { normalizeEvent } from '#server/protocol/normalize.ts'
import { scrubEvent } from '#server/protocol/scrub.ts'

/** What an event costs between JSON.parse and the database: scrub, normalise, fingerprint, in µs on one core. */

const CONTEXT = {
  eventId: '9ec79c33ec9942ab8353589fcb2e04dc',
  receivedAt: new Date('2026-11-20T05:00:00Z'),
  sentAt: new Date('2026-11-20T05:00:00Z'),
  clientIp: '203.0.113.7',
  userAgent: null,
}

/** A Node event of about `sizeBytes`, grown by frames with source context and by breadcrumbs, as real ones are. */
export function sampleEvent(sizeBytes: number, seed: number): Record<string, unknown> {
  const frames: unknown[] = []
  const breadcrumbs: unknown[] = []
  const event = {
    event_id: '9ec79c33ec9942ab8353589fcb2e04dc',
    timestamp: 1795150790.123,
    platform: 'node',
    level: 'error',
    release: 'shop-api@1.4.0+77',
    environment: 'production',
    server_name: 'app-host-1',
    transaction: 'POST /checkout',
    exception: {
      values: [
        {
          type: 'PaymentError',
          value: `card declined for order ${seed}`,
          mechanism: { type: 'generic', handled: true },
          stacktrace: { frames },
        },
      ],
    },
    contexts: {
      trace: { trace_id: 'd07271e6b4104a43a5565470e3315fa3', span_id: 'b59ae564c9cd60b2' },
      device: { boot_time: '2026-11-20T04:15:04.406Z', arch: 'x64', memory_size: 25276510208, processor_count: 2 },
      runtime: { name: 'node', version: 'v26.10.0' },
      os: { name: 'Debian', version: '12.11', kernel_version: '6.18.44' },
    },
    tags: { area: 'payments', 'feature.flag': 'checkout-v2', tenant: `t${seed % 50}` },
    user: { id: String(seed % 1000), email: 'ada@example.com', ip_address: '203.0.113.7' },
    request: {
      url: 'https://shop.example.com/checkout?step=3',
      method: 'POST',
      headers: {
        host: 'shop.example.com',
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/147.0 Safari/537.36',
        accept: 'application/json',
      },
    },
    breadcrumbs,
    extra: { cart: { items: [1, 2, 3], total: 12.5 } },
    sdk: { name: 'sentry.javascript.node', version: '11.12.0' },
  }
  for (let index = 0; JSON.stringify(event).length < sizeBytes; index += 1) {
    const line = (at: number): string =>
      `    const item${at} = await repository.find(query, { limit: ${at}, strict: mode !== 'lax' })`
    frames.push({
      filename: `/srv/app/${index % 3 === 0 ? 'node_modules/express/lib' : 'src/services'}/module${index % 17}.js`,
      module: `services:module${index % 17}`,
      function: index % 5 === 0 ? '<anonymous>' : `Service${index % 17}.handle${(index + seed) % 200}`,
      lineno: 100 + index,
      colno: 12,
      in_app: index % 3 !== 0,
      pre_context: [line(1), line(2), line(3)],
      context_line: line(4),
      post_context: [line(5), line(6), line(7)],
    })
    breadcrumbs.push({
      timestamp: 1795150700.5 + index,
      type: 'http',
      category: 'fetch',
      level: 'info',
      data: { url: `https://api.example.com/items/${index}?page=2`, method: 'GET', status_code: 200 },
    })
  }
  return event
}

/** Prints µs per event for 3, 20 and 50 KB. Medians of several rounds, so that a busy neighbour shows less. */
export function run(): void {
  console.log(`normalise: one core of ${hostname()}, Node ${process.version}; median µs per event`)
  for (const kilobytes of [3, 20, 50]) {
    const texts = Array.from({ length: 200 }, (_, seed) => JSON.stringify(sampleEvent(kilobytes * 1024, seed)))
    const rounds: { parse: number; scrub: number; normalise: number; fingerprint: number }[] = []
    for (let round = 0; round < 30; round += 1) rounds.push(measureRound(texts))
    const settled = rounds.slice(10)
    const part = (name: keyof (typeof rounds)[number]): string =>
      `${name} ${median(settled.map((round) => round[name])).toFixed(1)}`
    console.log(`${kilobytes} KB: ${part('parse')}, ${part('scrub')}, ${part('normalise')}, ${part('fingerprint')}`)
  }
}

function measureRound(texts: readonly string[]): {
  parse: number
  scrub: number
  normalise: number
  fingerprint: number
} {
  const start = performance.now()
  const raws = texts.map((text): Record<string, unknown> => JSON.parse(text))
  const parsed = performance.now()
  for (const raw of raws) scrubEvent(raw)
  const scrubbed = performance.now()
  const events = raws.map((raw) => normalizeEvent(raw, CONTEXT))
  const normalised = performance.now()
  for (const event of events) fingerprint(event)
  const grouped = performance.now()
  const perEvent = (from: number, to: number): number => ((to - from) * 1000) / texts.length
  return {
    parse: perEvent(start, parsed),
    scrub: perEvent(parsed, scrubbed),
    normalise: perEvent(scrubbed, normalised),
    fingerprint: perEvent(normalised, grouped),
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

if (import.meta.main) run()
