import { crc32, deflateSync, gunzipSync } from 'node:zlib'
import { chance, envelope, hex } from '../../../demo/envelope.ts'
import { aMemberClient } from '../../kit/member-client.ts'
import { client, type Client } from '../../kit/client.ts'
import { seedDeliveries, seededDelivery, seedHealth } from '../../kit/seed-deliveries.ts'
import { readSamples } from '../../kit/samples.ts'
import { keepTraces, summariseTraces } from '#server/telemetry/traces/keep-traces.ts'
import { fakeSentry, SOURCE_ORG } from '../../kit/fake-sentry.ts'
import { insertMessage } from '../../kit/route-examples.ts'
import type { TestServer } from '../../kit/test-server.ts'
import { pastLines } from '../logs-world.ts'
import { EVERY_FIVE, NIGHTLY, pastRuns } from '../monitors-world.ts'
import { requestSendings, SLOW_TRANSACTION, STORY_TRACE, type RequestsProject } from './requests.ts'
import type { Places } from './scenes.ts'

/**
 * The content of the pictures: an organisation with six projects, thirty days of sessions and two weeks of events.
 * Everything is sent as SDKs and members send it while the service's clock is moved, so every stored time follows from
 * the story, and two runs store the same.
 */
export type World = Places & {
  readonly owner: Client
  readonly member: Client
  /** Owner of an organisation without a project. */
  readonly newcomer: Client
}

export const NOW = '2026-11-20T12:00:00.000Z'
const NOW_MS = Date.parse(NOW)
const HOUR_MS = 3_600_000
const PASSWORD = 'quartz-lantern-harbour-7'
const APP = 'com.meadowlark.shopper'

const RELEASES = [
  { version: `${APP}@4.10.6+41006`, daysAgo: 39, crashes: 0.0042 },
  { version: `${APP}@4.11.0+41100`, daysAgo: 23, crashes: 0.0039 },
  { version: `${APP}@4.11.2+41102`, daysAgo: 17, crashes: 0.0035 },
  { version: `${APP}@4.11.3+41103`, daysAgo: 10, crashes: 0.0033 },
  { version: `${APP}@4.12.0+41200`, daysAgo: 0.33, crashes: 0.0082 },
]

type Project = { readonly id: string; readonly number: string; readonly key: string }
type Kind = {
  readonly project: 'android' | 'web'
  readonly type: string
  readonly value: string
  readonly function: string
  readonly file: string
  /** Events an hour ago and in each hour before, and the number of hours. */
  readonly rate: number
  readonly hours: number
  readonly level?: string
  readonly unhandled?: boolean
  readonly users: number
}

const KINDS: readonly Kind[] = [
  crash('android', 'IllegalStateException', 'Fragment CheckoutFragment not attached to a context', 9, 9, 60),
  crash('android', 'SlotPickerError', 'Slot 14:30 is taken', 4, 30, 22),
  crash('android', 'OutOfMemoryError', 'Failed to allocate a 16777232 byte allocation', 1.4, 330, 9),
  crash('android', 'SocketTimeoutException', 'timeout after 10000 ms', 2.2, 200, 31),
  crash(
    'android',
    'NullPointerException',
    "Attempt to invoke virtual method 'java.lang.String Basket.total()'",
    0.4,
    90,
    5,
  ),
  crash('web', 'ChunkLoadError', 'Loading chunk 318 failed.', 3, 60, 40),
  crash('web', 'TypeError', "Cannot read properties of undefined (reading 'price')", 1.1, 300, 12),
  crash('web', 'PaymentError', 'card declined', 0.6, 160, 8),
  {
    project: 'web',
    type: 'RangeError',
    value: 'Maximum call stack size exceeded while the suggestions of a very long search are put into order',
    function: 'rankSuggestions',
    file: 'src/search/a/rather/deep/folder/of/components/suggestions.ts',
    rate: 0.2,
    hours: 120,
    level: 'warning',
    users: 3,
  },
]

function crash(
  project: Kind['project'],
  type: string,
  value: string,
  rate: number,
  hours: number,
  users: number,
): Kind {
  const name = `${type[0]?.toLowerCase()}${type.slice(1)}`
  const file = project === 'web' ? `src/${name}.ts` : `${name}.kt`
  return { project, type, value, rate, hours, users, function: `${name}Site`, file, unhandled: rate > 1 }
}

type Sending = { readonly at: number; readonly project: RequestsProject; readonly body: Buffer | string }

const seconds = (ms: number): number => ms / 1000

function eventOf(kind: Kind, at: number, name: string): Record<string, unknown> {
  const isWeb = kind.project === 'web'
  const user = Math.floor(chance(`${name} user`) * kind.users)
  const old = at < NOW_MS - 8 * HOUR_MS ? RELEASES[3] : RELEASES[4]
  return {
    event_id: hex(name),
    timestamp: seconds(at),
    platform: isWeb ? 'javascript' : 'java',
    level: kind.level ?? (kind.unhandled === true ? 'fatal' : 'error'),
    release: isWeb ? 'shopper-web@2.31.0' : old?.version,
    environment: chance(`${name} environment`) < 0.12 ? 'staging' : 'production',
    transaction: isWeb ? '/checkout' : 'CheckoutActivity',
    user: { id: `u${user}`, username: `shopper${user}`, ip_address: `203.0.113.${user}` },
    tags: { screen: user % 3 === 0 ? 'basket' : 'checkout', flavour: 'full' },
    contexts: isWeb
      ? { browser: { name: 'Chrome', version: '147.0' }, os: { name: 'Windows', version: '11' } }
      : {
          os: { name: 'Android', version: '15' },
          device: {
            family: 'Pixel',
            model: ['Pixel 7a', 'SM-A125F', 'Redmi Note 12'][user % 3],
            arch: 'arm64-v8a',
            free_storage: 30_000_000_000,
            storage_size: 128_000_000_000,
            battery_level: 64,
          },
          app: { app_version: '4.12.0', app_identifier: APP },
        },
    breadcrumbs: {
      values: [
        {
          timestamp: seconds(at) - 31,
          type: 'navigation',
          category: 'navigation',
          data: { from: '/basket', to: '/checkout' },
        },
        { timestamp: seconds(at) - 22, type: 'user', category: 'ui.click', message: 'Pay 41.80' },
        {
          timestamp: seconds(at) - 0.4,
          type: 'http',
          category: 'fetch',
          level: 'warning',
          data: { method: 'POST', url: 'https://api.example/pay', status_code: 502 },
        },
      ],
    },
    extra: { basket: { items: 3, total: 41.8 } },
    exception: {
      values: [
        {
          type: 'NetworkError',
          value: 'connection reset',
          stacktrace: { frames: [{ function: 'read', filename: 'node:net', lineno: 1, in_app: false }] },
        },
        {
          type: kind.type,
          value: kind.value,
          mechanism: { type: isWeb ? 'onerror' : 'UncaughtExceptionHandler', handled: kind.unhandled !== true },
          stacktrace: {
            frames: [
              { function: 'next', filename: 'node_modules/express/lib/router.js', lineno: 1, in_app: false },
              { function: 'handle', filename: 'node_modules/express/lib/layer.js', lineno: 7, in_app: false },
              {
                filename: kind.file,
                function: kind.function,
                lineno: 42,
                colno: 11,
                in_app: true,
                pre_context: ['async confirm(order) {', "  const paid = await pay('card', order)"],
                context_line: "  if (!paid) throw new CheckoutError('could not be paid')",
                post_context: ['}'],
                vars: { order: { id: 7, total: 41.8 }, paid: false },
              },
            ],
          },
        },
      ],
    },
  }
}

/** Events of the last two weeks: fewer at night, no two in the same second. */
function eventSendings(): Sending[] {
  return KINDS.flatMap((kind) =>
    Array.from({ length: kind.hours }, (_, hour) => hour + 1).flatMap((hoursAgo) => {
      const day = 0.55 + 0.45 * Math.sin(((NOW_MS / HOUR_MS - hoursAgo) / 24) * 2 * Math.PI - 2)
      const wanted = kind.rate * day + chance(`${kind.type} ${hoursAgo}`) - 0.5
      return Array.from({ length: Math.max(0, Math.round(wanted)) }, (_, index): Sending => {
        const name = `${kind.type} ${hoursAgo} ${index}`
        const at = NOW_MS - (hoursAgo - chance(name)) * HOUR_MS - 60_000
        const event = eventOf(kind, at, name)
        return {
          at,
          project: kind.project,
          body: envelope(at, hex(name), [[{ type: 'event' }, JSON.stringify(event)]]),
        }
      })
    }),
  )
}

/** Sessions of thirty days, one envelope per day: each release replaces the one before. */
function sessionSendings(): Sending[] {
  const due = RELEASES.map(() => 0)
  const sendings: Sending[] = []
  for (let day = 30; day >= 0; day--) {
    const last = Math.max(0.05, day * 24)
    const items = new Map<string, { attrs: object; aggregates: object[] }>()
    for (let hour = 23; hour >= 0; hour--) {
      const hoursAgo = last + hour
      if (day === 30 && hour > 0) continue
      for (const [index, { version, crashes }] of RELEASES.entries()) {
        const sessions = sessionsOf(index, hoursAgo)
        const crashed = (due[index] ?? 0) + sessions * crashes * (1 + 0.2 * Math.sin(hoursAgo))
        const whole = Math.min(sessions, Math.floor(crashed))
        due[index] = crashed - whole
        if (sessions === 0) continue
        const environment = hour === 7 ? 'staging' : 'production'
        const item = items.get(`${version} ${environment}`) ?? {
          attrs: { release: version, environment },
          aggregates: [],
        }
        items.set(`${version} ${environment}`, item)
        item.aggregates.push({
          started: new Date(NOW_MS - hoursAgo * HOUR_MS).toISOString(),
          exited: sessions - whole,
          crashed: whole,
        })
      }
    }
    const at = NOW_MS - last * HOUR_MS
    const pieces = [...items.values()].map((item) => [{ type: 'sessions' }, JSON.stringify(item)] as const)
    sendings.push({ at, project: 'android', body: envelope(at, null, pieces) })
  }
  return sendings
}

function sessionsOf(index: number, hoursAgo: number): number {
  const reach = RELEASES.map(({ daysAgo }, at) => {
    const age = daysAgo * 24 - hoursAgo
    if (at === 0) return 1
    if (age <= 0) return 0
    return at === 4 ? Math.min(0.45, age * 0.055) : 0.97 / (1 + Math.exp((80 - age * 1.2) / 14))
  })
  const left = reach.slice(index + 1).reduce((rest, share) => rest * (1 - share), 1)
  return Math.round((reach[index] ?? 0) * left * (4_000 + 900 * Math.sin(hoursAgo / 3.8)))
}

/** A message, a native crash with files and feedback, refused items, losses that an SDK reports. */
function specialSendings(): Sending[] {
  const at = (hoursAgo: number) => NOW_MS - hoursAgo * HOUR_MS
  const dump = gunzipSync(readSamples(/minidump/).at(-1)?.body ?? Buffer.alloc(0))
  const native = {
    event_id: hex('native'),
    timestamp: seconds(at(3)),
    platform: 'native',
    release: RELEASES[4]?.version,
  }
  const feedback = {
    event_id: hex('native'),
    name: 'Ada',
    email: 'ada@example.com',
    comments: 'The game closed when the boss appeared. It happened three times this evening.',
  }
  const message = {
    event_id: hex('message'),
    timestamp: seconds(at(5)),
    platform: 'javascript',
    level: 'info',
    release: 'shopper-web@2.31.0',
    message: 'Stock of article 88-1200 could not be read; the shelf shows yesterday’s count',
  }
  const lost = [
    { reason: 'before_send', category: 'error', quantity: 1_284 },
    { reason: 'ratelimit_backoff', category: 'error', quantity: 17 },
  ]
  return [
    {
      at: at(3),
      project: 'android',
      body: envelope(at(3), hex('native'), [
        [{ type: 'event' }, JSON.stringify(native)],
        [
          {
            type: 'attachment',
            attachment_type: 'event.minidump',
            filename: 'mini.dmp',
            content_type: 'application/x-dmp',
          },
          dump,
        ],
        [{ type: 'attachment', filename: 'screenshot.png', content_type: 'image/png' }, stripes(240, 120)],
        [{ type: 'attachment', filename: 'app.log', content_type: 'text/plain' }, 'a line\n'.repeat(300)],
        [{ type: 'user_report' }, JSON.stringify(feedback)],
      ]),
    },
    {
      at: at(5),
      project: 'web',
      body: envelope(at(5), hex('message'), [[{ type: 'event' }, JSON.stringify(message)]]),
    },
    { at: at(2), project: 'android', body: '{}\n{"type":"event"}\nnope' },
    {
      at: at(1.5),
      project: 'android',
      body: envelope(at(1.5), null, [[{ type: 'client_report' }, JSON.stringify({ discarded_events: lost })]]),
    },
  ]
}

/** A PNG of grey stripes. */
function stripes(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const around = Buffer.alloc(8)
    around.writeUInt32BE(data.length, 0)
    around.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0], 8)
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) rows.fill(y % 16 < 8 ? 90 : 200, y * (width + 1) + 1, (y + 1) * (width + 1))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

export async function makeWorld(server: TestServer): Promise<World> {
  const { clock } = server
  clock.set(new Date(NOW_MS - 32 * 24 * HOUR_MS))
  const owner = client(server.url)
  await signUp(owner, { email: 'ines@meadowlark.example', name: 'Ines Kaya', org: 'Meadowlark' })
  const android = await aProject(owner, 'shopper-android', 'android')
  const web = await aProject(owner, 'shopper-web', 'web')
  const api = await aProject(owner, 'orders-api', 'web')
  await ok(
    owner.patch(`/api/projects/${api.id}/settings`, { request_p95_limit_ms: 1_000, request_failure_limit: 0.05 }),
  )
  const worker = await aProject(owner, 'stock-worker', 'web')
  const empty = await aProject(owner, 'storefront', 'web')
  const projects = { android, web, api, worker }

  const releases: Record<string, string> = {}
  for (const { version, daysAgo } of RELEASES) {
    const answer = await ok(
      owner.post('/api/releases', {
        projectId: android.id,
        version,
        released_at: new Date(NOW_MS - daysAgo * 24 * HOUR_MS).toISOString(),
      }),
    )
    releases[version] = String(answer.body['id'])
  }

  // In steps of hours: everything sent is recorded before the clock moves on.
  const sendings = [...eventSendings(), ...sessionSendings(), ...specialSendings(), ...requestSendings(NOW_MS)].sort(
    (a, b) => a.at - b.at,
  )
  let hour = 0
  let resolved = false
  for (const sending of sendings) {
    const of = Math.floor(sending.at / HOUR_MS / (sending.at < NOW_MS - 48 * HOUR_MS ? 8 : 1))
    if (of !== hour) {
      await server.service.drain()
      await keepTraces(server.app)
    }
    hour = of
    if (!resolved && sending.at > NOW_MS - 40 * HOUR_MS) {
      resolved = true
      await server.service.drain()
      await logIn(owner, 'ines@meadowlark.example')
      const { OutOfMemoryError = '', TypeError: type = '' } = await issuesOf(owner)
      const version = RELEASES[4]?.version
      await ok(
        owner.patch(`/api/issues/${OutOfMemoryError}`, { status: 'resolved', resolution: { in_release: version } }),
      )
      await ok(owner.patch(`/api/issues/${type}`, { status: 'ignored' }))
    }
    clock.set(new Date(sending.at + 500))
    const { number, key } = projects[sending.project]
    await fetch(`${server.url}/api/${number}/envelope/?sentry_key=${key}&sentry_version=7`, {
      method: 'POST',
      body: typeof sending.body === 'string' ? sending.body : new Uint8Array(sending.body),
    })
  }
  await server.service.drain()

  // Members act in the last quarter of an hour.
  clock.set(new Date(NOW_MS - 14 * 60_000))
  await logIn(owner, 'ines@meadowlark.example')
  const member = await aMemberClient(server.app, server.url, owner, {
    name: 'Tomo Arai',
    email: 'tomo@meadowlark.example',
  })
  await aMemberClient(server.app, server.url, owner, {
    name: 'Robin Vale',
    role: 'viewer',
    email: 'robin@meadowlark.example',
  })
  await aMemberClient(server.app, server.url, owner, {
    name: 'Zoë Müller',
    role: 'admin',
    email: 'zoe@meadowlark.example',
  })
  const issues = await issuesOf(owner)
  await members({ owner, member, clock, issues, release: releases[RELEASES[4]?.version ?? ''] ?? '' })
  await settings(owner, android.id, member.id)

  const newcomer = client(server.url)
  await signUp(newcomer, { email: 'new@comer.example', name: 'Noor Odeh', org: 'Newcomers' })
  clock.set(new Date(NOW_MS))
  await keepTraces(server.app)
  await summariseTraces(server.app)
  await pastLines(server, web.id, server.clock.now().getTime())
  await pastMessages(server, web.id)
  await logIn(owner, 'ines@meadowlark.example')
  await webhooks(server, owner)
  return {
    owner,
    member,
    newcomer,
    android: android.id,
    web: web.id,
    api: api.id,
    empty: empty.id,
    rule: await aRule(owner, android.id),
    importId: await anImport(owner),
    release: releases[RELEASES[4]?.version ?? ''] ?? '',
    monitor: await pastMonitors(server, owner, web.id),
    quietRelease: releases[RELEASES[1]?.version ?? ''] ?? '',
    issues,
    delivery: seededDelivery(1),
    trace: STORY_TRACE,
    transaction: SLOW_TRANSACTION,
  }
}

/** Messages of visitors of the shop. */
async function pastMessages({ app }: TestServer, projectId: string): Promise<void> {
  const messages = [
    [4, 'Mara L.', 'mara@example.org', 'The pay button does nothing. I tried six times and loaded the page again.'],
    [95, null, null, 'Search is better now. Thank you.'],
    [
      1_500,
      'Jonas',
      'jonas@example.org',
      'My delivery was moved to Thursday without a message.\n\nPlease change it back.',
    ],
  ] as const
  for (const [minutes, name, email, message] of messages)
    await insertMessage(app, projectId, {
      name,
      email,
      message,
      receivedAt: new Date(NOW_MS - minutes * 60_000),
      url: 'https://shop.example/basket',
      release: 'shopper-web@2.31.0',
    })
}

async function aRule(owner: Client, projectId: string): Promise<string> {
  const rule = {
    projectId,
    name: 'A new error that is at least high',
    trigger_type: 'new_issue',
    conditions: {},
    actions: [],
  }
  return String((await ok(owner.post('/api/alerts', rule))).body['id'])
}

/** An import whose mapping is to be decided. */
async function anImport(owner: Client): Promise<string> {
  const project = { id: '90001', slug: 'till', platform: 'python', publicKey: 'b'.repeat(32), issues: [] }
  const source = await fakeSentry(new Date(NOW_MS), [project])
  const given = { url: source.url, organisation: SOURCE_ORG, token: source.token }
  const answer = await ok(owner.post('/api/org/imports', given))
  await source.close()
  return String(answer.body['id'])
}

/** Jobs in several states; returns the id of one that misses runs. */
async function pastMonitors(server: TestServer, owner: Client, projectId: string): Promise<string> {
  const now = server.clock.now().getTime()
  const jobs = [
    { slug: 'price-feed', every: 5, runs: 40, missing: 2, config: EVERY_FIVE, failed: 12 },
    { slug: 'stock-sync', every: 5, runs: 40, missing: 0, config: EVERY_FIVE, failed: null },
    { slug: 'settle-pay', every: 1_440, runs: 9, missing: 0, config: NIGHTLY, failed: 0 },
  ]
  // Three runs of the export never began; then it recovered.
  const exported = Array.from({ length: 40 }, (_, place) => 39 - place).filter((ago) => ago < 6 || ago > 8)
  await pastRuns(
    server,
    projectId,
    'catalogue-export',
    exported.map((ago, place) => ({ minutesAgo: ago * 5 + 1, config: place === 0 ? EVERY_FIVE : null })),
    now,
  )
  for (const { slug, every, runs, missing, config, failed } of jobs) {
    await pastRuns(
      server,
      projectId,
      slug,
      Array.from({ length: runs }, (_, place) => runs - 1 - place).map((ago, place) => ({
        minutesAgo: (ago + missing) * every + 3,
        durationMs: Math.round(30_000 + 12_000 * Math.sin(ago)),
        status: ago === failed ? ('error' as const) : ('ok' as const),
        release: ago > 20 ? '311' : '312',
        config: place === 0 ? config : null,
      })),
      now,
    )
  }
  const { items } = (await owner.get('/api/monitors?limit=1')).as<{ items: { id: string }[] }>()
  return items[0]?.id ?? 'unknown'
}

async function members(of: {
  owner: Client
  member: Client & { id: string }
  clock: TestServer['clock']
  issues: Record<string, string>
  release: string
}): Promise<void> {
  const { owner, member, clock, issues, release } = of
  const crashing = issues['IllegalStateException'] ?? ''
  await ok(owner.patch(`/api/issues/${crashing}`, { assignee_id: member.id }))
  clock.advance(60_000)
  await ok(
    member.post(`/api/issues/${crashing}/comments`, {
      body: 'The fragment goes while the sheet is open. `isAdded` is not asked.\n\n- seen on **Pixel 7a**\n- not before 4.12.0',
    }),
  )
  clock.advance(60_000)
  await ok(
    owner.post(`/api/issues/${crashing}/comments`, {
      body: '@Tomo Arai can you take it before the rollout continues?',
    }),
  )
  clock.advance(60_000)
  await ok(member.post(`/api/issues/${issues['SlotPickerError'] ?? ''}/comments`, { body: 'Ines, this one is new.' }))
  await ok(
    owner.post(`/api/releases/${release}/commits`, {
      commits: [
        {
          id: '9f2c1d07be',
          message: 'Pay once, however often the button is pressed\n\nFixes the till.',
          author_name: 'Ines K.',
          timestamp: new Date(NOW_MS - 12 * HOUR_MS).toISOString(),
        },
        { id: 'c0ffee0042', message: null },
      ],
    }),
  )
  await ok(
    owner.post(`/api/releases/${release}/deploys`, {
      environment: 'production',
      name: '20 %',
      started_at: new Date(NOW_MS - 8.2 * HOUR_MS).toISOString(),
      finished_at: new Date(NOW_MS - 8 * HOUR_MS).toISOString(),
    }),
  )
}

async function webhooks({ app }: TestServer, owner: Client): Promise<void> {
  const endpoint = async (url: string, events: readonly string[]) =>
    String((await ok(owner.post('/api/webhooks', { url, events }))).body['id'])
  const now = new Date(NOW_MS)
  const six = [
    'session.theft_detected',
    'device.new',
    'signin.oidc.ok',
    'mfa.totp.enrolled',
    'mfa.totp.disabled',
    'password.changed',
  ]
  await seedDeliveries(app, await endpoint('https://ops.example.com/hooks/identity', six), now)
  await seedHealth(app, await endpoint('https://audit.example.com/v1/intake', []), now, 200)
  await seedHealth(app, await endpoint('https://ci.example.com/hooks/rollout', six.slice(0, 2)), now, null)
}

async function settings(owner: Client, projectId: string, memberId: string): Promise<void> {
  await ok(
    owner.patch(`/api/projects/${projectId}/settings`, {
      ownership_rules: [
        { match: 'path', glob: 'src/checkout/*', user_id: memberId },
        { match: 'tag.screen', glob: 'basket', team: 'growth' },
      ],
    }),
  )
}

async function ok(answering: ReturnType<Client['get']>) {
  const answer = await answering
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

async function signUp(one: Client, fields: { email: string; name: string; org: string }): Promise<void> {
  await ok(one.post('/api/auth/signup', { ...fields, password: PASSWORD }))
  await logIn(one, fields.email)
}

const logIn = (one: Client, email: string) => ok(one.post('/api/auth/login', { email, password: PASSWORD }))

async function aProject(owner: Client, name: string, platform: string): Promise<Project> {
  const { body } = await ok(owner.post('/api/projects', { name, platform, region: 'eu-central-1' }))
  const dsn = new URL(String(body['dsn']))
  return { id: String(body['id']), number: dsn.pathname.slice(1), key: dsn.username }
}

async function issuesOf(owner: Client): Promise<Record<string, string>> {
  const answer = await ok(owner.get('/api/issues?limit=100'))
  const { items } = answer.as<{ items: { id: string; type: string | null; title: string }[] }>()
  return Object.fromEntries(items.map(({ id, type, title }) => [type ?? title, id]))
}
