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

export type BenchEvent = {
  /** Which of the distinct issues it belongs to. */
  readonly issue: number
  readonly json: Buffer
  /** The event as the second member of a gzip body; see {@link envelopeBody}. */
  readonly member: Buffer
}

export function makeEvents(shape: PayloadShape): BenchEvent[] {
  const events: BenchEvent[] = []
  for (let issue = 0; issue < shape.issues; issue++) {
    for (let variant = 0; variant < shape.variantsPerIssue; variant++) {
      const json = Buffer.from(
        JSON.stringify(makeEvent(shape, issue, random(shape.seed * 7919 + issue * 131 + variant))),
      )
      events.push({ issue, json, member: gzipSync(Buffer.concat([json, Buffer.from('\n')]), { level: 6 }) })
    }
  }
  return events
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

const HEADER_START = '{"event_id":"'
const HEADER_END =
  '","sent_at":"2026-11-20T12:00:00.000Z","sdk":{"name":"sentry.javascript.node","version":"11.12.0"}}\n{"type":"event"}\n'

/**
 * Writes gzip bodies with a new id at almost no cost: the envelope's header is a separate gzip member, stored instead
 * of compressed (RFC 1952 2.2, RFC 1951 3.2.4), so a new id changes 32 bytes and a checksum.
 */
export class HeaderMember {
  static readonly #prefixBytes = 10 + 5
  readonly #content = Buffer.from(`${HEADER_START}${'0'.repeat(32)}${HEADER_END}`)
  readonly bytes: Buffer

  constructor() {
    const { length } = this.#content
    const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
    const blockHeader = Buffer.alloc(5)
    blockHeader[0] = 1
    blockHeader.writeUInt16LE(length, 1)
    blockHeader.writeUInt16LE(~length & 0xffff, 3)
    const trailer = Buffer.alloc(8)
    trailer.writeUInt32LE(length, 4)
    this.bytes = Buffer.concat([gzipHeader, blockHeader, this.#content, trailer])
  }

  /** Replaces the id; {@link bytes} changes with it. */
  setId(id: string): void {
    this.#content.write(id, HEADER_START.length, 32, 'latin1')
    this.bytes.write(id, HeaderMember.#prefixBytes + HEADER_START.length, 32, 'latin1')
    this.bytes.writeUInt32LE(crc32(this.#content), this.bytes.length - 8)
  }
}

/** The whole gzip body of one event with an id. */
export function envelopeBody(event: BenchEvent, id: string): Buffer {
  const header = new HeaderMember()
  header.setId(id)
  return Buffer.concat([header.bytes, event.member])
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
  const user = Math.floor(rand() * 20_000)
  const event: Record<string, unknown> & {
    exception: { values: { type: string; value: string; mechanism: unknown; stacktrace: { frames: unknown[] } }[] }
    breadcrumbs: unknown[]
  } = {
    platform: 'node',
    level: 'error',
    environment: pick(['production', 'production', 'staging']),
    release: `shop@2.${issue % 12}.0`,
    server_name: `web-${Math.floor(rand() * 8)}`,
    timestamp: 1_795_000_000 + rand() * 100_000,
    transaction: `POST /api/${pickFixed(MODULES)}/:id`,
    sdk: {
      name: 'sentry.javascript.node',
      version: '11.12.0',
      integrations: ['InboundFilters', 'FunctionToString', 'LinkedErrors', 'Console', 'Http'],
    },
    user: { id: `u${user}`, username: `user${user}`, ip_address: `10.${user % 200}.${(user >> 3) % 250}.7` },
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
