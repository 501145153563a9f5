import { crc32, gzipSync } from 'node:zlib'

/**
 * Seeded events as an SDK sends them: stack frames with source context, breadcrumbs, contexts, tags, a user; a given
 * number of distinct issues. Sizes are of the event's JSON.
 */

export type PayloadShape = {
  readonly sizeBytes: number
  readonly issues: number
  readonly variantsPerIssue: number
  readonly seed: number
}

/** 20 KB, 200 issues: the payload of P1, P2. */
export const STANDARD_SHAPE: PayloadShape = { sizeBytes: 20_000, issues: 200, variantsPerIssue: 4, seed: 1 }

export type Coding = 'gzip' | 'none'

export type BenchEvent = {
  /** Which of the distinct issues it belongs to. */
  readonly issue: number
  /** Its release, where it must be a certain one: 0 to 39, the newest. */
  readonly release?: number
  /** The whole event. */
  readonly json: Buffer
  /** The event without the members that {@link EventHead} writes for each request; coded, ready to send. */
  readonly rest: Buffer
}

export function makeEvents(shape: PayloadShape, coding: Coding = 'gzip'): BenchEvent[] {
  const events: BenchEvent[] = []
  for (let issue = 0; issue < shape.issues; issue++) {
    for (let variant = 0; variant < shape.variantsPerIssue; variant++) {
      const rand = random(shape.seed * 7919 + issue * 131 + variant)
      events.push(benchEvent(issue, makeEvent(shape, issue, rand), coding))
    }
  }
  return events
}

/** @param event without the members that {@link EventHead} writes */
export function benchEvent(
  issue: number,
  event: Record<string, unknown>,
  coding: Coding,
  release?: number,
): BenchEvent {
  const text = JSON.stringify(event)
  const rest = Buffer.from(`${text.slice(1)}\n`)
  return {
    issue,
    ...(release === undefined ? {} : { release }),
    json: Buffer.from(`{${eventStart(issue, release)}${text.slice(1)}`),
    rest: coding === 'gzip' ? gzipSync(rest, { level: 6 }) : rest,
  }
}

/** Mulberry32: small, seeded, good enough for generated data. */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const USERS = 20_000
const RELEASES = 40

/** The name of a release of the app, 0 to 39. */
export const releaseName = (release: number): string => `shop@2.${10 + release}.0`

/**
 * The members that differ between the events of a real app: time, release, user, an extra value. Few users send many
 * events; most events come from the newest releases.
 * @param seed any number
 * @param onlyRelease instead of one that the seed gives
 * @returns members of the event's JSON object, of a constant length, with a comma after the last
 */
function eventStart(seed: number, onlyRelease?: number, nowMs = 1_795_000_000_000): string {
  const rand = random(seed)
  const user = Math.floor(USERS * rand() ** 2)
  const anyRelease = RELEASES - 1 - Math.floor(RELEASES * rand() ** 3)
  const digits = (value: number, length: number): string => String(value).padStart(length, '0')
  return (
    `"timestamp":${(nowMs / 1000).toFixed(3)},"release":"${releaseName(onlyRelease ?? anyRelease)}",` +
    `"user":{"id":"u${digits(user, 6)}","username":"user${digits(user, 6)}","ip_address":"10.${100 + (user % 100)}.${100 + ((user >> 7) % 100)}.7"},` +
    `"extra":{"request_id":"${digits(Math.floor(rand() * 1e12), 12)}"},`
  )
}

/**
 * Writes the start of each request's body at almost no cost: the envelope's header and the event's first members are a
 * separate gzip member, stored instead of compressed (RFC 1952 2.2, RFC 1951 3.2.4), so a new id, time and user change
 * some bytes and a checksum.
 */
export class EventHead {
  readonly #coding: Coding
  readonly #content: Buffer
  readonly #contentAt: number
  readonly #variety: number
  #seed: number
  /** Overwritten by each {@link next}. */
  readonly bytes: Buffer

  /** @param variety after this many events users, releases and values repeat */
  constructor(coding: Coding, seed = 0, variety = Number.MAX_SAFE_INTEGER) {
    this.#coding = coding
    this.#seed = seed
    this.#variety = variety
    const { length } = EventHead.#text('0'.repeat(32), 0, undefined, Date.now())
    if (coding === 'none') {
      this.bytes = Buffer.alloc(length)
      this.#contentAt = 0
    } else {
      const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
      const blockHeader = Buffer.alloc(5)
      blockHeader[0] = 1
      blockHeader.writeUInt16LE(length, 1)
      blockHeader.writeUInt16LE(~length & 0xffff, 3)
      const trailer = Buffer.alloc(8)
      trailer.writeUInt32LE(length, 4)
      this.bytes = Buffer.concat([gzipHeader, blockHeader, Buffer.alloc(length), trailer])
      this.#contentAt = gzipHeader.length + blockHeader.length
    }
    this.#content = this.bytes.subarray(this.#contentAt, this.#contentAt + length)
  }

  static #text(id: string, seed: number, release: number | undefined, nowMs: number): string {
    return (
      `{"event_id":"${id}","sent_at":"${new Date(nowMs).toISOString()}","sdk":{"name":"sentry.javascript.node","version":"11.12.0"}}\n` +
      `{"type":"event"}\n{${eventStart(seed, release, nowMs)}`
    )
  }

  /** Replaces id, time, user and release. */
  next(id: string, release?: number): void {
    this.#content.write(EventHead.#text(id, this.#seed++ % this.#variety, release, Date.now()), 'latin1')
    if (this.#coding === 'gzip') this.bytes.writeUInt32LE(crc32(this.#content), this.bytes.length - 8)
  }
}

const MODULES = [
  'cart',
  'checkout',
  'payment',
  'session',
  'profile',
  'search',
  'inventory',
  'shipping',
  'pricing',
  'mailer',
]
const VERBS = ['load', 'save', 'update', 'validate', 'fetch', 'render', 'apply', 'resolve', 'merge', 'dispatch']
const THINGS = ['Order', 'Customer', 'Address', 'Discount', 'Invoice', 'Basket', 'Token', 'Report', 'Stock', 'Quote']
const ERRORS = ['TypeError', 'RangeError', 'PaymentError', 'TimeoutError', 'ValidationError', 'ConnectionError']
const LINES = [
  '    const current = await this.repository.findById(id)',
  '    if (current === null) {',
  '      throw new NotFoundError(`nothing with id ${id}`)',
  '    }',
  '    const total = items.reduce((sum, item) => sum + item.price * item.quantity, 0)',
  '    const response = await fetch(url, { method, headers, body })',
  '    return this.mapper.toView(current, { locale, currency })',
  '    for (const line of basket.lines) {',
  '      await this.stock.reserve(line.sku, line.quantity)',
  '    logger.debug({ id, total }, "recalculated")',
  '  async function handle(request, reply) {',
  '    const { customer, address } = await resolveCustomer(request.user)',
  '    transaction.setStatus("ok")',
  '',
]

function makeEvent({ sizeBytes }: PayloadShape, issue: number, rand: () => number): Record<string, unknown> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(rand() * list.length)] as T
  const fixed = random(issue + 1)
  const pickFixed = <T>(list: readonly T[]): T => list[Math.floor(fixed() * list.length)] as T
  const type = pickFixed(ERRORS)
  const event: Record<string, unknown> & {
    exception: { values: { type: string; value: string; mechanism: unknown; stacktrace: { frames: unknown[] } }[] }
    breadcrumbs: unknown[]
  } = {
    platform: 'node',
    level: 'error',
    environment: pick(['production', 'production', 'staging']),
    server_name: `web-${Math.floor(rand() * 8)}`,
    transaction: `POST /api/${pickFixed(MODULES)}/:id`,
    sdk: {
      name: 'sentry.javascript.node',
      version: '11.12.0',
      integrations: ['InboundFilters', 'FunctionToString', 'LinkedErrors', 'Console', 'Http'],
    },
    tags: {
      tenant: `t${Math.floor(rand() * 30)}`,
      region: pick(['eu', 'us', 'af']),
      runtime: 'node',
      feature: pickFixed(MODULES),
    },
    contexts: {
      os: { name: 'Linux', version: '6.1.0', kernel_version: '6.1.0-18-amd64' },
      runtime: { name: 'node', version: 'v26.10.0' },
      device: { arch: 'x64', memory_size: 8_589_934_592, free_memory: Math.floor(rand() * 4e9), processor_count: 4 },
      app: { app_start_time: '2026-11-20T08:00:00.000Z', app_memory: Math.floor(rand() * 3e8) },
      trace: { trace_id: hex(rand, 32), span_id: hex(rand, 16), op: 'http.server' },
    },
    request: {
      url: `https://shop.example/api/${pickFixed(MODULES)}/${Math.floor(rand() * 1e6)}`,
      method: 'POST',
      headers: {
        host: 'shop.example',
        'content-type': 'application/json',
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
      },
    },
    exception: {
      values: [
        {
          type,
          value: `${pickFixed(VERBS)} failed for ${pickFixed(THINGS)} ${Math.floor(rand() * 1e6)}`,
          mechanism: { type: 'generic', handled: rand() < 0.7 },
          stacktrace: { frames: [] },
        },
      ],
    },
    breadcrumbs: [],
  }
  const frames = event.exception.values[0]?.stacktrace.frames ?? []
  let bytes = JSON.stringify(event).length
  const push = (list: unknown[], value: unknown): void => {
    bytes += JSON.stringify(value).length + (list.length === 0 ? 0 : 1)
    list.push(value)
  }
  // The stack determines the issue, so it derives from the issue's number; it has at most three quarters of the size.
  const frameCount = Math.max(3, Math.min(60, Math.floor((sizeBytes * 0.6) / 800)))
  for (let i = 0; i < frameCount && bytes < sizeBytes * 0.8; i++) {
    const module = pickFixed(MODULES)
    const name = `${pickFixed(VERBS)}${pickFixed(THINGS)}`
    const vendor = fixed() < 0.4
    const context = () => Array.from({ length: sizeBytes < 5_000 ? 2 : 5 }, () => pickFixed(LINES))
    push(frames, {
      function: i === frameCount - 1 ? `${name}${issue}` : name,
      filename: vendor ? `/srv/app/node_modules/${module}/lib/${name}.js` : `/srv/app/src/${module}/${name}.ts`,
      module: `${module}.${name}`,
      lineno: 10 + Math.floor(fixed() * 400),
      colno: 1 + Math.floor(fixed() * 80),
      in_app: !vendor,
      pre_context: context(),
      context_line: pickFixed(LINES),
      post_context: context(),
    })
  }
  for (let i = 0; bytes < sizeBytes - 150; i++) {
    push(event.breadcrumbs, {
      timestamp: 1_795_000_000 + i,
      type: i % 3 === 0 ? 'http' : 'default',
      category: i % 3 === 0 ? 'http' : 'console',
      level: 'info',
      message: `${pick(VERBS)} ${pick(THINGS)} finished`,
      data: { url: `https://shop.example/api/${pick(MODULES)}`, status_code: 200 },
    })
  }
  return event
}

function hex(rand: () => number, digits: number): string {
  let text = ''
  while (text.length < digits)
    text += Math.floor(rand() * 0x100000000)
      .toString(16)
      .padStart(8, '0')
  return text.slice(0, digits)
}
