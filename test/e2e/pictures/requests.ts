import { chance, envelope, hex } from '../../../demo/envelope.ts'

/**
 * Requests of the pictures' server, worker, web shop and app: in the release of yesterday each checkout asks for its
 * stock 31 times, and for the last hour the token service answers 429.
 */

export type RequestsProject = 'android' | 'web' | 'api' | 'worker'
type Sending = { readonly at: number; readonly project: RequestsProject; readonly body: Buffer }

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Hours since the release that repeats a query. */
const RELEASED_HOURS_AGO = 22
const HOURS = 48

/** The checkout that the pictures open: from the browser through the server to the worker, with an error. */
export const STORY_TRACE = hex('the refused checkout')
export const SLOW_TRANSACTION = 'POST /v2/checkout/{id}'

type Span = {
  readonly op: string
  readonly description: string
  readonly fromMs: number
  readonly ms: number
  readonly status?: string
  readonly data?: object
  readonly id?: string
  readonly parent?: string
}
type Work = {
  readonly project: RequestsProject
  readonly name: string
  readonly op: string
  /** When it began. */
  readonly at: number
  readonly ms: number
  readonly trace: string
  readonly id: string
  readonly parent?: string
  readonly status?: string
  readonly release: string
  readonly spans?: readonly Span[]
  readonly data?: object
  readonly measurements?: object
  readonly contexts?: object
  readonly tags?: object
}

const spanId = (name: string): string => hex(name).slice(0, 16)
const seconds = (ms: number): number => ms / 1_000
const between = (name: string, from: number, to: number): number => from + chance(name) * (to - from)

function sendingOf(work: Work): Sending {
  const { project, at, ms, trace, id, release, status = 'ok' } = work
  const transaction = {
    event_id: hex(`${id} event`),
    type: 'transaction',
    platform: project === 'web' ? 'javascript' : project === 'android' ? 'java' : 'node',
    transaction: work.name,
    transaction_info: { source: 'route' },
    release,
    environment: 'production',
    start_timestamp: seconds(at),
    timestamp: seconds(at + ms),
    tags: work.tags,
    ...(project === 'worker' ? {} : { user: { id: `user ${Math.floor(chance(`${trace} user`) * 60)}` } }),
    measurements: work.measurements,
    contexts: {
      ...work.contexts,
      trace: { trace_id: trace, span_id: id, parent_span_id: work.parent, op: work.op, status, data: work.data },
    },
    spans: (work.spans ?? []).map((span, place) => ({
      trace_id: trace,
      span_id: span.id ?? spanId(`${id} ${place}`),
      parent_span_id: span.parent ?? id,
      op: span.op,
      description: span.description,
      status: span.status ?? 'ok',
      data: span.data ?? {},
      start_timestamp: seconds(at + span.fromMs),
      timestamp: seconds(at + span.fromMs + span.ms),
    })),
  }
  const body = envelope(at + ms, transaction.event_id, [[{ type: 'transaction' }, JSON.stringify(transaction)]])
  return { at: at + ms, project, body }
}

/** A visit from the browser to the worker. */
function checkout(trace: string, at: number, nowMs: number): Sending[] {
  const isNew = at > nowMs - RELEASED_HOURS_AGO * HOUR_MS
  const isRefused = trace === STORY_TRACE || (at > nowMs - HOUR_MS && chance(`${trace} refused`) < 0.35)
  const release = isNew ? 'orders-api@2026.11.4' : 'orders-api@2026.11.3'
  const each = between(`${trace} stock`, 6, 14)
  const asks = isNew ? 31 : 1
  const stockMs = asks * (each + 2)
  const waitMs = isRefused ? 620 : between(`${trace} token`, 40, 90)
  const payMs = isRefused ? 0 : between(`${trace} pay`, 120, 340)
  const serverMs = 30 + stockMs + waitMs + payMs + 20
  const [page, call, root, token, publish] = ['page', 'call', 'root', 'token', 'publish'].map((part) =>
    spanId(`${trace} ${part}`),
  ) as [string, string, string, string, string]
  const server = at + 90
  const spans: Span[] = [
    { op: 'middleware', description: 'session', fromMs: 1, ms: 4 },
    { op: 'cache.get', description: 'basket:5519274', fromMs: 6, ms: 1, data: { 'cache.hit': chance(trace) < 0.8 } },
    {
      op: 'db',
      description: 'SELECT * FROM baskets WHERE id = $1',
      fromMs: 8,
      ms: 18,
      data: { 'db.system': 'postgresql' },
    },
    ...Array.from({ length: asks }, (_, place) => ({
      op: 'db',
      description: 'SELECT quantity FROM stock WHERE sku = $1 FOR UPDATE',
      fromMs: 30 + place * (each + 2),
      ms: each,
      data: { 'db.system': 'postgresql' },
    })),
    {
      id: token,
      op: 'http.client',
      description: 'POST https://id.example/oauth/token',
      fromMs: 30 + stockMs,
      ms: waitMs,
      status: isRefused ? 'resource_exhausted' : 'ok',
      data: { 'http.request.method': 'POST', 'http.response.status_code': isRefused ? 429 : 200 },
    },
    ...(isRefused
      ? []
      : [
          {
            op: 'http.client',
            description: 'POST https://pay.example/v1/charges',
            fromMs: 30 + stockMs + waitMs,
            ms: payMs,
            data: { 'http.request.method': 'POST', 'http.response.status_code': 201 },
          },
        ]),
    { id: publish, op: 'queue.publish', description: 'stock.reserve', fromMs: serverMs - 12, ms: 8 },
  ]
  const failed = isRefused ? 'resource_exhausted' : 'ok'
  return [
    sendingOf({
      project: 'web',
      name: 'Pay now',
      op: 'ui.action.click',
      at,
      ms: serverMs + 180,
      trace,
      id: page,
      release: 'shopper-web@2.31.0',
      status: failed,
      tags: { plan: chance(`${trace} plan`) < 0.2 ? 'club' : 'free' },
      spans: [
        { op: 'ui.render', description: 'CheckoutButton', fromMs: 4, ms: 22 },
        { id: call, op: 'http.client', description: 'POST /v2/checkout/5519274', fromMs: 60, ms: serverMs + 70 },
        { op: 'ui.render', description: isRefused ? 'PaymentError' : 'Receipt', fromMs: serverMs + 140, ms: 34 },
      ],
    }),
    sendingOf({
      project: 'api',
      name: SLOW_TRANSACTION,
      op: 'http.server',
      at: server,
      ms: serverMs,
      trace,
      id: root,
      parent: call,
      release,
      status: failed,
      data: { 'http.request.method': 'POST', 'http.response.status_code': isRefused ? 503 : 201 },
      tags: { region: chance(`${trace} region`) < 0.6 ? 'SE' : 'DE' },
      spans,
    }),
    sendingOf({
      project: 'worker',
      name: 'stock.reserve',
      op: 'queue.process',
      at: server + serverMs + 35,
      ms: between(`${trace} reserve`, 60, 140),
      trace,
      id: spanId(`${trace} job`),
      parent: publish,
      release: 'stock-worker@118',
      data: { 'messaging.message.receive.latency': 39, 'messaging.destination.name': 'stock.reserve' },
      spans: [{ op: 'db', description: 'UPDATE stock SET reserved = reserved + $1', fromMs: 8, ms: 40 }],
    }),
  ]
}

const READS = [
  ['GET /v2/slots', 210],
  ['GET /v2/orders/{id}', 48],
  ['GET /v2/products', 31],
] as const
const PAGES = [
  ['/checkout', 2_900],
  ['/basket', 1_500],
  ['/', 1_100],
] as const
const SCREENS = [
  ['HomeActivity', 610],
  ['ProductActivity', 940],
  ['CheckoutActivity', 1_650],
] as const
const MODELS = ['Pixel 7a', 'SM-A125F', 'Redmi Note 12']

/** Reads of the server, loads of pages in browsers and of screens in the app in one hour. */
function loads(hour: number, nowMs: number): Sending[] {
  const at = (name: string) => nowMs - hour * HOUR_MS + chance(`${name} at`) * (HOUR_MS - 3 * MINUTE_MS)
  return Array.from({ length: hour > 24 ? 1 : 2 }, (_, place) => place).flatMap((place) => [
    ...READS.map(([name, ms]) => {
      const key = `${name} ${hour} ${place}`
      return sendingOf({
        project: 'api',
        name,
        op: 'http.server',
        at: at(key),
        ms: between(key, ms * 0.7, ms * (chance(`${key} tail`) < 0.1 ? 4 : 1.3)),
        trace: hex(key),
        id: spanId(key),
        release: hour < RELEASED_HOURS_AGO ? 'orders-api@2026.11.4' : 'orders-api@2026.11.3',
        status: chance(`${key} fails`) < 0.01 ? 'internal_error' : 'ok',
        spans: [
          { op: 'db', description: `SELECT * FROM ${name.split('/')[2] ?? ''} LIMIT 50`, fromMs: 2, ms: ms * 0.5 },
          {
            op: 'cache.get',
            description: `${name.split('/')[2] ?? ''}:${place}`,
            fromMs: 1,
            ms: 0.6,
            data: { 'cache.hit': chance(`${key} hit`) < 0.7 },
          },
        ],
      })
    }),
    ...PAGES.map(([name, lcp]) => {
      const key = `${name} ${hour} ${place}`
      const ms = between(key, lcp * 0.6, lcp * (chance(`${key} tail`) < 0.15 ? 2.6 : 1.3))
      const value = (of: number) => ({ value: of, unit: 'millisecond' })
      return sendingOf({
        project: 'web',
        name,
        op: 'pageload',
        at: at(key),
        ms,
        trace: hex(key),
        id: spanId(key),
        release: 'shopper-web@2.31.0',
        contexts: { browser: { name: 'Chrome', version: '147.0' } },
        measurements: {
          lcp: value(ms),
          fcp: value(ms * 0.6),
          ttfb: value(ms * 0.22),
          cls: { value: chance(`${key} cls`) * 0.14, unit: '' },
          inp: value(between(`${key} inp`, 60, 320)),
        },
        spans: [
          { op: 'http.client', description: 'GET /v2/slots', fromMs: ms * 0.3, ms: ms * 0.2 },
          { op: 'resource.script', description: 'https://shop.example/assets/checkout.js', fromMs: 40, ms: ms * 0.25 },
        ],
      })
    }),
    ...SCREENS.map(([name, typical], screen) => {
      const key = `${name} ${hour} ${place}`
      const isNew = hour < 8 && place === 0
      const ms = between(key, typical * 0.7, typical * 1.4) * (isNew && screen === 2 ? 1.6 : 1)
      const value = (of: number) => ({ value: of, unit: 'millisecond' })
      const count = (of: number) => ({ value: Math.round(of), unit: 'none' })
      return sendingOf({
        project: 'android',
        name,
        op: 'ui.load',
        at: at(key),
        ms,
        trace: hex(key),
        id: spanId(key),
        release: `com.meadowlark.shopper@${isNew ? '4.12.0+41200' : '4.11.3+41103'}`,
        contexts: {
          device: {
            family: 'Phone',
            model: MODELS[place],
            memory_size: (place + 1) * 2 * 1024 ** 3,
            processor_count: 8,
          },
          os: { name: 'Android', version: '15' },
        },
        measurements: {
          time_to_initial_display: value(ms),
          time_to_full_display: value(ms * 1.5),
          frames_total: count(220),
          frames_slow: count(between(`${key} slow`, 4, screen === 2 ? 60 : 18)),
          frames_frozen: count(chance(`${key} frozen`) * 3),
          ...(screen === 0 ? { app_start_cold: value(ms * 2.4), app_start_warm: value(ms * 1.1) } : {}),
        },
      })
    }),
  ])
}

/** All of it. */
export function requestSendings(nowMs: number): Sending[] {
  const found: Sending[] = []
  for (let hour = HOURS; hour > 0; hour--) {
    found.push(...loads(hour, nowMs))
    for (let place = hour > 24 ? 1 : 0; place < 2; place++) {
      const name = `checkout ${hour} ${place}`
      found.push(...checkout(hex(name), nowMs - hour * HOUR_MS + chance(name) * (HOUR_MS - 3 * MINUTE_MS), nowMs))
    }
  }
  const at = nowMs - 12 * MINUTE_MS
  const error = {
    event_id: hex('refused token'),
    timestamp: seconds(at + 1_000),
    platform: 'node',
    level: 'error',
    release: 'orders-api@2026.11.4',
    environment: 'production',
    transaction: SLOW_TRANSACTION,
    contexts: { trace: { trace_id: STORY_TRACE, span_id: spanId(`${STORY_TRACE} token`) } },
    exception: {
      values: [
        {
          type: 'TokenRefused',
          value: '429 Too Many Requests from id.example',
          stacktrace: { frames: [{ filename: 'src/auth/token.ts', function: 'exchange', lineno: 42, in_app: true }] },
        },
      ],
    },
  }
  const line = (afterMs: number, level: string, body: string) => ({
    timestamp: seconds(at + afterMs),
    trace_id: STORY_TRACE,
    span_id: spanId(`${STORY_TRACE} token`),
    level,
    body,
    attributes: { 'logger.name': { value: 'orders.auth', type: 'string' } },
  })
  const lines = [
    line(620, 'info', 'token: asking id.example'),
    line(760, 'warn', 'token: 429, retry 1 of 2 in 200 ms'),
    line(990, 'error', 'token: 429, giving up'),
  ]
  // The courier's app logs, and traces nothing.
  const quiet = [{ ...line(1_200, 'warn', 'courier: no order came'), span_id: undefined }]
  const headOf = (count: number) => ({
    type: 'log',
    item_count: count,
    content_type: 'application/vnd.sentry.items.log+json',
  })
  return [
    ...found,
    ...checkout(STORY_TRACE, at, nowMs),
    {
      at: at + 1_000,
      project: 'api',
      body: envelope(at + 1_000, error.event_id, [[{ type: 'event' }, JSON.stringify(error)]]),
    },
    {
      at: at + 2_000,
      project: 'api',
      body: envelope(at, null, [[headOf(lines.length), JSON.stringify({ items: lines })]]),
    },
    {
      at: at + 2_000,
      project: 'android',
      body: envelope(at, null, [[headOf(quiet.length), JSON.stringify({ items: quiet })]]),
    },
  ]
}
