import { DAY_MS, HOUR_MS } from '#server/platform/kernel/day.ts'
import { APPS, DAYS, type DemoApp, FAULTS, type Fault, REGRESSED, REGRESSION, type Release } from './apps.ts'
import { chance, type EnvelopeItem, hex } from './envelope.ts'

/** The requests of the SDKs of the apps in thirty days. */

/** Items that leave the app together. */
export type Sending = {
  /** When they happened. */
  readonly atMs: number
  readonly app: DemoApp
  readonly id: string | null
  readonly items: readonly EnvelopeItem[]
  /** The first event of an error, which the story waits for. */
  readonly isFirst?: true
}

const seconds = (ms: number): number => ms / 1000
const pick = <T>(list: readonly T[], name: string): T | undefined => list[Math.floor(chance(name) * list.length)]
const json = (value: unknown): string => JSON.stringify(value)
/** How busy an hour is, from 0.15 at night to 1. */
const busy = (atMs: number): number => 0.575 + 0.425 * Math.sin(((atMs % DAY_MS) / DAY_MS) * 2 * Math.PI - Math.PI / 2)

/** All of it, oldest first. */
export function sendings(nowMs: number): Sending[] {
  return [
    ...[...FAULTS, REGRESSION, REGRESSED].flatMap((fault) => eventsOf(fault, nowMs)),
    ...APPS.flatMap((app) => [...sessionsOf(app, nowMs), ...transactionsOf(app, nowMs)]),
    ...logsOf(appNamed('orders-api'), nowMs),
    ...checkInsOf(appNamed('orders-api'), nowMs),
  ].toSorted((a, b) => a.atMs - b.atMs)
}

function appNamed(name: DemoApp['name']): DemoApp {
  const app = APPS.find((one) => one.name === name)
  if (app === undefined) throw new Error(`there is no app ${name}`)
  return app
}

/** The release that a user of that time has: most have the newest within two days. */
function releaseAt(app: DemoApp, atMs: number, nowMs: number, name: string): Release {
  const out = app.releases.filter(({ daysAgo }) => nowMs - daysAgo * DAY_MS <= atMs)
  const newest = out.at(-1)
  if (newest === undefined) throw new Error(`${app.name} has no release at that time`)
  return chance(`${name} release`) < adoption(newest, atMs, nowMs) ? newest : (out.at(-2) ?? newest)
}

const adoption = ({ daysAgo }: Release, atMs: number, nowMs: number): number =>
  Math.min(0.97, 0.1 + ((atMs - (nowMs - daysAgo * DAY_MS)) / (2 * DAY_MS)) * 0.87)

const DEVICES = [
  { manufacturer: 'Samsung', model: 'Galaxy A02', memory_size: 2 * 1024 ** 3, processor_count: 4 },
  { manufacturer: 'Xiaomi', model: 'Redmi Note 12', memory_size: 4 * 1024 ** 3, processor_count: 8 },
  { manufacturer: 'Google', model: 'Pixel 7a', memory_size: 8 * 1024 ** 3, processor_count: 8 },
] as const
const PHONES = ['iPhone13,2', 'iPhone14,5', 'iPhone15,3', 'iPhone16,1'] as const
const BROWSERS = [
  ['Chrome', '147.0.0'],
  ['Safari', '26.2'],
  ['Firefox', '151.0'],
] as const

/** Where it ran; the same for the same user. */
function contextsOf(app: DemoApp, user: string): Record<string, object> {
  if (app.name === 'orders-api')
    return { runtime: { name: 'node', version: 'v26.10.0' }, os: { name: 'Linux', version: '6.12.0' } }
  if (app.platform === 'web') {
    const [name, version] = pick(BROWSERS, `${user} browser`) ?? BROWSERS[0]
    return { browser: { name, version }, os: { name: 'Windows', version: '11' } }
  }
  if (app.platform === 'ios')
    return {
      device: { family: 'iPhone', model: pick(PHONES, `${user} phone`), memory_size: 6 * 1024 ** 3, battery_level: 64 },
      os: { name: 'iOS', version: chance(`${user} os`) < 0.7 ? '26.1' : '18.6' },
    }
  return {
    device: { family: 'Phone', ...pick(DEVICES, `${user} device`), battery_level: Math.round(20 + chance(user) * 75) },
    os: { name: 'Android', version: chance(`${user} os`) < 0.6 ? '15' : '13' },
  }
}

function eventsOf(fault: Fault, nowMs: number): Sending[] {
  const app = appNamed(fault.app)
  const { fromDay, toDay = 0, perDay } = fault
  const count = Math.max(3, Math.round((fromDay - toDay) * perDay))
  return Array.from({ length: count }, (_, index): Sending | null => {
    const name = `${fault.type} ${fromDay} ${index}`
    const share = index === 0 ? 1 : chance(`${name} time`)
    const atMs = nowMs - toDay * DAY_MS - share * (fromDay - toDay) * DAY_MS + (index === 0 ? 600_000 : -90_000)
    // Fewer at night.
    if (index > 2 && chance(`${name} night`) > busy(atMs)) return null
    const sending = eventSending(app, fault, atMs, nowMs, name)
    return index === 0 ? { ...sending, isFirst: true } : sending
  }).filter((one) => one !== null)
}

/** Some users write what happened. */
function eventSending(app: DemoApp, fault: Fault, atMs: number, nowMs: number, name: string): Sending {
  const id = hex(`${name} ${nowMs}`)
  const event = eventOf(app, fault, atMs, nowMs, name)
  const says = app.name !== 'orders-api' && fault.unhandled === true && chance(`${name} says`) < 0.02
  const text = pick(SAYINGS, `${name} text`) ?? SAYINGS[0]
  const feedback = { event_id: id, name: 'Customer', email: `customer-${id.slice(0, 4)}@example.com`, comments: text }
  return {
    atMs,
    app,
    id,
    items: [
      [{ type: 'event' }, json({ ...event, event_id: id })],
      ...(says ? [[{ type: 'user_report' }, json(feedback)] as const] : []),
    ],
  }
}

const SAYINGS = [
  'I wanted to choose a delivery time and the app closed. My basket was still there.',
  'Paying worked at the third try.',
  'The page stays white after I press "To checkout".',
  'It happens each time I open the offers.',
] as const

function eventOf(app: DemoApp, fault: Fault, atMs: number, nowMs: number, name: string): Record<string, unknown> {
  const user = `${app.platform}-${Math.floor(chance(`${name} user`) * fault.users)}`
  const release = fault.release ?? releaseAt(app, atMs, nowMs, name).version
  const number = Math.floor(chance(user) * 250)
  const isServer = app.name === 'orders-api'
  return {
    timestamp: seconds(atMs),
    platform: app.language,
    level: fault.level ?? (fault.unhandled === true ? 'fatal' : 'error'),
    release,
    environment: chance(`${name} environment`) < 0.06 ? 'staging' : 'production',
    transaction: fault.place,
    sdk: app.sdk,
    ...(isServer ? { server_name: `orders-${number % 3}` } : {}),
    user: { id: user, username: `customer${number}`, ip_address: `203.0.113.${number}` },
    tags: { screen: fault.place, plan: chance(user) < 0.2 ? 'club' : 'free', locale: chance(user) < 0.5 ? 'de' : 'en' },
    contexts: {
      ...contextsOf(app, user),
      trace: { trace_id: hex(`${name} trace`), span_id: hex(`${name} span`).slice(0, 16) },
    },
    breadcrumbs: { values: breadcrumbsOf(app, fault, atMs) },
    exception: {
      values: [
        {
          type: fault.type,
          value: fault.value,
          mechanism: { type: mechanismOf(app, fault), handled: fault.unhandled !== true },
          stacktrace: { frames: framesOf(app, fault) },
        },
      ],
    },
  }
}

function mechanismOf(app: DemoApp, fault: Fault): string {
  if (fault.type === 'ApplicationNotResponding') return 'ANR'
  if (fault.unhandled !== true) return 'generic'
  return app.platform === 'web' ? 'onerror' : app.platform === 'ios' ? 'mach' : 'UncaughtExceptionHandler'
}

const breadcrumbsOf = (app: DemoApp, fault: Fault, atMs: number): object[] => [
  { timestamp: seconds(atMs) - 48, type: 'navigation', category: 'navigation', data: { from: '/', to: fault.place } },
  { timestamp: seconds(atMs) - 12, type: 'user', category: 'ui.click', message: 'Continue' },
  {
    timestamp: seconds(atMs) - 0.6,
    type: 'http',
    category: app.platform === 'web' ? 'fetch' : 'http',
    level: fault.level === 'warning' ? 'info' : 'warning',
    data: { method: 'POST', url: 'https://api.meadowlark.example/orders', status_code: 502 },
  },
]

function framesOf(app: DemoApp, fault: Fault): object[] {
  const outer = {
    'shopper-android': [
      { module: 'android.os.Looper', function: 'loop', filename: 'Looper.java', lineno: 288, in_app: false },
      {
        module: 'android.os.Handler',
        function: 'dispatchMessage',
        filename: 'Handler.java',
        lineno: 106,
        in_app: false,
      },
    ],
    'shopper-ios': [
      { function: 'UIApplicationMain', package: 'UIKitCore', in_app: false },
      { function: '-[UIViewController viewDidAppear:]', package: 'UIKitCore', in_app: false },
    ],
    'shopper-web': [
      { function: 'invokeEvent', filename: 'node_modules/react-dom/index.js', lineno: 12, colno: 3, in_app: false },
      { function: 'onContinue', filename: 'src/app/button.tsx', lineno: 31, colno: 9, in_app: true },
    ],
    'orders-api': [
      {
        function: 'processTicksAndRejections',
        filename: 'node:internal/process/task_queues',
        lineno: 105,
        in_app: false,
      },
      { function: 'handle', filename: 'node_modules/fastify/lib/reply.js', lineno: 7, colno: 3, in_app: false },
    ],
  }[app.name]
  const [before, line, after] = fault.lines
  const module = app.platform === 'android' ? { module: `com.meadowlark.${fault.file.replace(/\.\w+$/, '')}` } : {}
  return [
    ...outer,
    {
      ...module,
      function: fault.function,
      filename: fault.file,
      lineno: 42,
      colno: 11,
      in_app: true,
      pre_context: [before],
      context_line: line,
      post_context: [after],
    },
  ]
}

/** Counts of sessions, hour by hour, in envelopes of six hours. */
function sessionsOf(app: DemoApp, nowMs: number): Sending[] {
  const found: Sending[] = []
  const due = new Map<string, number>()
  for (let hoursAgo = DAYS * 24; hoursAgo > 0; hoursAgo -= 6) {
    const items = new Map<string, object[]>()
    for (let hour = hoursAgo; hour > hoursAgo - 6; hour--) {
      const startMs = nowMs - hour * HOUR_MS
      const all = Math.round(app.sessions * busy(startMs) * (0.9 + 0.2 * chance(`${app.name} sessions ${hour}`)))
      const out = app.releases.filter(({ daysAgo }) => nowMs - daysAgo * DAY_MS <= startMs).slice(-2)
      const newest = out.at(-1)
      const share = newest === undefined || out.length === 1 ? 1 : adoption(newest, startMs, nowMs)
      for (const release of out) {
        const sessions = Math.round(all * (release === newest ? share : 1 - share))
        const crashes = (due.get(release.version) ?? 0) + sessions * release.crashes
        const crashed = Math.min(sessions, Math.floor(crashes))
        due.set(release.version, crashes - crashed)
        const errored = Math.min(sessions - crashed, Math.round(sessions * release.crashes * 2.5))
        if (sessions === 0) continue
        const started = new Date(startMs).toISOString()
        const aggregates = items.get(release.version) ?? []
        items.set(release.version, aggregates)
        aggregates.push({ started, exited: sessions - crashed - errored, errored, crashed })
        // Some with their users, so that users are counted, too.
        for (let user = hour % 8; user < 240 && app.name !== 'orders-api'; user += 24)
          aggregates.push({ started, did: `${app.platform}-${user}`, exited: 1, errored: 0, crashed: 0 })
      }
    }
    found.push({
      atMs: nowMs - (hoursAgo - 5) * HOUR_MS + 60_000,
      app,
      id: null,
      items: [...items].map(([release, aggregates]): EnvelopeItem => [
        { type: 'sessions' },
        json({ aggregates, attrs: { release, environment: 'production' } }),
      ]),
    })
  }
  return found.filter(({ atMs }) => atMs < nowMs)
}

/** Loads of screens and pages, and requests to the server, which belong to the trace of a page. */
function transactionsOf(app: DemoApp, nowMs: number): Sending[] {
  const found: Sending[] = []
  for (let hoursAgo = DAYS * 24; hoursAgo > 0; hoursAgo -= 2) {
    const atMs = nowMs - hoursAgo * HOUR_MS + chance(`${app.name} ${hoursAgo} load`) * HOUR_MS
    for (const [index, [place, ms]] of app.places.entries()) {
      const name = `${app.name} ${place} ${hoursAgo}`
      const release = releaseAt(app, atMs, nowMs, name)
      // A long tail; the newest release of the app for Android is slower.
      const slower = release.crashes > 0.009 ? 1.5 : 1
      const durationMs = ms * (0.6 + chance(`${name} ms`) * 0.9) * (chance(`${name} tail`) < 0.06 ? 3 : 1) * slower
      const endMs = Math.min(atMs + index * 40_000, nowMs - 30_000)
      const item = transaction(app, { place, durationMs, endMs, name: `${name} ${nowMs}`, release })
      found.push({ atMs: endMs, app, id: item.event_id, items: [[{ type: 'transaction' }, json(item)]] })
    }
  }
  return found
}

type Load = {
  readonly place: string
  readonly durationMs: number
  readonly endMs: number
  readonly name: string
  readonly release: Release
}

function transaction(app: DemoApp, { place, durationMs, endMs, name, release }: Load) {
  const end = seconds(endMs)
  const start = end - durationMs / 1000
  const user = `${app.platform}-${Math.floor(chance(`${name} user`) * 200)}`
  const trace = hex(`${name} trace`)
  const id = hex(`${name} root`).slice(0, 16)
  const isServer = app.name === 'orders-api'
  const op = isServer ? 'http.server' : app.platform === 'web' ? 'pageload' : 'ui.load'
  const fails = isServer && chance(`${name} fails`) < 0.015
  const children = isServer
    ? [
        ['db', 'SELECT stock FOR UPDATE', 0.05, 0.4],
        ['http.client', 'POST https://pay.example/charges', 0.45, 0.9],
      ]
    : [
        ['http.client', 'GET /basket', 0.1, 0.55],
        ['ui.render', 'render the list', 0.6, 0.95],
      ]
  return {
    event_id: hex(`${name} id`),
    type: 'transaction',
    platform: app.language,
    transaction: place,
    transaction_info: { source: app.platform === 'web' ? 'route' : 'component' },
    start_timestamp: start,
    timestamp: end,
    release: release.version,
    environment: 'production',
    sdk: app.sdk,
    user: { id: user },
    contexts: {
      ...contextsOf(app, user),
      trace: { trace_id: trace, span_id: id, op, status: fails ? 'internal_error' : 'ok' },
    },
    measurements: measurementsOf(app, durationMs, name, place === app.places[0]?.[0]),
    spans: children.map(([kind, description, from, to], index) => ({
      trace_id: trace,
      span_id: hex(`${name} span ${index}`).slice(0, 16),
      parent_span_id: id,
      op: kind,
      description,
      status: 'ok',
      start_timestamp: start + (durationMs / 1000) * Number(from),
      timestamp: start + (durationMs / 1000) * Number(to),
    })),
  }
}

/** @param isStart whether the app starts with this screen */
function measurementsOf(app: DemoApp, durationMs: number, name: string, isStart: boolean): Record<string, object> {
  const ms = (value: number) => ({ value, unit: 'millisecond' })
  const count = (value: number) => ({ value: Math.round(value), unit: 'none' })
  if (app.name === 'orders-api') return {}
  if (app.platform === 'web')
    return {
      lcp: ms(durationMs),
      fcp: ms(durationMs * 0.55),
      ttfb: ms(durationMs * 0.2),
      cls: { value: chance(`${name} cls`) * 0.15, unit: '' },
      inp: ms(60 + chance(`${name} inp`) * 220),
    }
  return {
    time_to_initial_display: ms(durationMs),
    time_to_full_display: ms(durationMs * 1.5),
    frames_total: count(220),
    frames_slow: count(4 + chance(`${name} slow`) * 14),
    frames_frozen: count(chance(`${name} frozen`) * 3),
    ...(isStart ? { app_start_cold: ms(durationMs * 2.4) } : {}),
  }
}

const LINES = [
  ['info', 'order placed'],
  ['info', 'stock reserved'],
  ['debug', 'basket read from the cache'],
  ['warn', 'the payment provider is slow'],
  ['error', 'the payment provider answered 502'],
] as const

/** Log entries of the server, twelve in every two hours. */
function logsOf(app: DemoApp, nowMs: number): Sending[] {
  return Array.from({ length: DAYS * 12 }, (_, index): Sending => {
    const atMs = nowMs - (index * 2 + 0.2) * HOUR_MS
    const items = Array.from({ length: 12 }, (__, line) => {
      const name = `log ${index} ${line}`
      const [level, body] = LINES[Math.floor(chance(name) ** 2.2 * LINES.length)] ?? LINES[0]
      const text = (value: string) => ({ value, type: 'string' })
      return {
        timestamp: seconds(atMs - line * 400_000),
        trace_id: hex(`${name} trace`),
        level,
        body,
        attributes: {
          'order.id': { value: 40_000 + index * 12 + line, type: 'integer' },
          'duration.ms': { value: Math.round(20 + chance(`${name} ms`) * 900), type: 'integer' },
          'sentry.release': text(releaseAt(app, atMs, nowMs, name).version),
          'sentry.environment': text('production'),
          'server.address': text(`orders-${line % 3}`),
        },
      }
    })
    const head = { type: 'log', item_count: items.length, content_type: 'application/vnd.sentry.items.log+json' }
    return { atMs, app, id: null, items: [[head, json({ items })]] }
  })
}

/** A report each night, one of which failed, and a copy of the stock every hour. */
function checkInsOf(app: DemoApp, nowMs: number): Sending[] {
  const midnightMs = Math.floor(nowMs / DAY_MS) * DAY_MS
  const run = (slug: string, atMs: number, ok: boolean, durationSeconds: number, crontab: string): Sending => ({
    atMs,
    app,
    id: null,
    items: [
      [
        { type: 'check_in' },
        json({
          check_in_id: hex(`${slug} ${atMs}`),
          monitor_slug: slug,
          status: ok ? 'ok' : 'error',
          duration: durationSeconds,
          environment: 'production',
          monitor_config: { schedule: { type: 'crontab', value: crontab }, timezone: 'UTC', max_runtime: 30 },
        }),
      ],
    ],
  })
  const nights = Array.from({ length: DAYS - 1 }, (_, day) =>
    run('nightly-report', midnightMs - day * DAY_MS + 3 * HOUR_MS + 240_000, day !== 4, 180 + day * 3, '0 3 * * *'),
  )
  const hours = Array.from({ length: 7 * 24 }, (_, hour) =>
    run('stock-sync', nowMs - (hour + 0.4) * HOUR_MS, hour % 61 !== 17, 20 + (hour % 9), '5 * * * *'),
  )
  return [...nights, ...hours].filter(({ atMs }) => atMs < nowMs - 60_000)
}
