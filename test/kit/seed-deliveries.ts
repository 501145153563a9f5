import type { App } from '#server/platform/context/app.ts'

/** A delivery log as after some weeks: every state, and attempts that ended in different ways. For pictures and checks of pages. */

type Seeded = {
  readonly type: string
  readonly minutesAgo: number
  readonly state: 'in_flight' | 'delivered' | 'failed'
  /** Statuses of its attempts; a text is the code of an error. */
  readonly attempts: readonly (number | string)[]
  readonly tookMs: number
  readonly retryInMinutes?: number
}

const LOG: readonly Seeded[] = [
  { type: 'signin.oidc.ok', minutesAgo: 0.1, state: 'in_flight', attempts: [], tookMs: 0 },
  {
    type: 'session.theft_detected',
    minutesAgo: 3,
    state: 'failed',
    attempts: [503, 503],
    tookMs: 198,
    retryInMinutes: 3,
  },
  {
    type: 'device.new',
    minutesAgo: 26,
    state: 'failed',
    attempts: [503, 'EGRESS_TIMEOUT', 'EGRESS_TIMEOUT'],
    tookMs: 10_000,
    retryInMinutes: 10,
  },
  { type: 'mfa.totp.disabled', minutesAgo: 31, state: 'delivered', attempts: [200], tookMs: 94 },
  { type: 'mfa.totp.enrolled', minutesAgo: 44, state: 'delivered', attempts: [503, 204], tookMs: 88 },
  { type: 'signin.oidc.ok', minutesAgo: 58, state: 'delivered', attempts: [200], tookMs: 102 },
  {
    type: 'password.changed',
    minutesAgo: 2_880,
    state: 'failed',
    attempts: [503, 503, 503, 503, 503, 503],
    tookMs: 187,
  },
  {
    type: 'device.new',
    minutesAgo: 2_900,
    state: 'failed',
    attempts: Array.from({ length: 6 }, () => 'CERT_HAS_EXPIRED'),
    tookMs: 31,
  },
  { type: 'password.changed', minutesAgo: 4_320, state: 'delivered', attempts: [503, 503, 200], tookMs: 121 },
]

const ERROR_TEXTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'certificate has expired',
  EGRESS_TIMEOUT: 'no answer within 10000 ms',
}

const DELAYS_MIN = [0, 1, 5, 30, 120, 720]
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The id of a seeded delivery, counted from the newest. */
export const seededDelivery = (index: number, log = ''): string => `d_${idOf(index, log)}`

/** The same in every run. */
const idOf = (index: number, log: string): string => `01kbn2q6x4e7v9c3m8t5hw${`${log}${index}`.padStart(4, '0')}`

/**
 * Writes the log of one endpoint. Nothing is due, so that no worker changes it.
 * @param log two characters at most, different for each endpoint of a database
 */
export async function seedDeliveries(app: App, endpointId: string, now: Date, log = ''): Promise<void> {
  const at = (minutesAgo: number): string => new Date(now.getTime() - minutesAgo * MINUTE_MS).toISOString()
  const run = (sql: string, values: unknown[]) => app.db.query(sql, values)
  for (const [index, seeded] of LOG.entries()) {
    const { type, state, attempts, tookMs, minutesAgo, retryInMinutes } = seeded
    const message = `evt_${idOf(index, log)}`
    const id = seededDelivery(index, log)
    const body = {
      id: message,
      type,
      app_id: 'app_01kbn2a0d8f5s7j3r9x6qk4mtp',
      user_id: '019a8c41-f0d2-7b1e-9c55-3f6a2e8d7b90',
      occurred_at: at(minutesAgo),
      data: {
        email: 'tomo@meadowlark.example',
        ip: '203.0.113.7',
        user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)',
        session_id: '019aa7c2-61b4-7d0f-8a3e-5c9b1f2d4e60',
        method: null,
      },
    }
    await run(
      `insert into outbox_messages (id, org_id, type, body, created_at)
       select $2, org_id, $3, $4, $5 from webhook_endpoints where id = $1`,
      [endpointId, message, type, Buffer.from(JSON.stringify(body)), at(minutesAgo)],
    )
    const last = attempts.at(-1)
    await run(
      `insert into outbox_deliveries (id, lane_id, org_id, message_id, type, state, attempt, attempts_made, next_attempt_at,
         due_at, secret_version, last_status, last_error_code, last_duration_ms, created_at, delivered_at)
       select $2, id, org_id, $3, $4, $5, $6, $6, $7, $8, 1, $9, $10, $11, $12, $13
       from webhook_endpoints where id = $1`,
      [
        endpointId,
        id,
        message,
        type,
        state,
        attempts.length,
        state === 'in_flight' ? at(minutesAgo) : retryInMinutes === undefined ? null : at(-retryInMinutes),
        state === 'in_flight' || retryInMinutes !== undefined ? 'infinity' : null,
        typeof last === 'number' ? last : null,
        typeof last === 'string' ? last : null,
        last === undefined ? null : tookMs,
        at(minutesAgo),
        state === 'delivered' ? at(minutesAgo) : null,
      ],
    )
    let startedMinutesAgo = minutesAgo
    for (const [before, answer] of attempts.entries()) {
      startedMinutesAgo -= DELAYS_MIN[before] ?? 0
      await run(
        `insert into outbox_attempts (delivery_id, n, trigger, started_at, duration_ms, status, error_code, error_text, details)
         values ($1, $2, 'schedule', $3, $4, $5, $6, $7, $8)`,
        [
          id,
          before + 1,
          at(Math.max(0, startedMinutesAgo)),
          tookMs + 14 * before,
          typeof answer === 'number' ? answer : null,
          typeof answer === 'string' ? answer : null,
          typeof answer === 'string' ? ERROR_TEXTS[answer] : null,
          JSON.stringify(detailsOf(answer, id, type, now)),
        ],
      )
    }
  }
  await seedHealth(app, endpointId, now, 503, seededDelivery(7, log))
}

/** Thirty days of attempts; the newest had this status. @param tlsDelivery the delivery with the last TLS error */
export async function seedHealth(
  app: App,
  endpointId: string,
  now: Date,
  lastStatus: number | null,
  tlsDelivery?: string,
): Promise<void> {
  for (let daysAgo = 0; daysAgo < 30; daysAgo++) {
    const failed =
      lastStatus === 200 ? (daysAgo === 25 ? 3 : 0) : daysAgo < 4 ? [2, 9, 7, 1][daysAgo] : daysAgo === 17 ? 4 : 0
    const delivered = lastStatus !== 200 && (daysAgo === 1 || daysAgo === 2) ? 0 : 40
    if (daysAgo === 11) continue
    await app.db.query('insert into webhook_days (endpoint_id, day, delivered, failed) values ($1, $2, $3, $4)', [
      endpointId,
      new Date(now.getTime() - daysAgo * DAY_MS).toISOString().slice(0, 10),
      delivered,
      failed,
    ])
  }
  await app.db.query(
    `update webhook_endpoints set last_status = $2, last_attempt_at = $3, tls_error = $4 where id = $1`,
    [
      endpointId,
      lastStatus,
      now.toISOString(),
      tlsDelivery === undefined
        ? null
        : JSON.stringify({
            code: 'CERT_HAS_EXPIRED',
            text: 'certificate has expired',
            at: new Date(now.getTime() - 2 * DAY_MS).toISOString(),
            delivery_id: tlsDelivery,
          }),
    ],
  )
}

function detailsOf(answer: number | string, delivery: string, type: string, now: Date) {
  const seconds = Math.floor(now.getTime() / 1000)
  const signature = 'f'.repeat(8) + '6b1e90d2'.repeat(7)
  return {
    dns_ms: 1.2,
    connect_ms: 8.4,
    tls_ms: 21,
    remote_ip: '203.0.113.40',
    error_kind: typeof answer === 'string' ? 'tls' : null,
    request_headers: [
      ['Content-Type', 'application/json'],
      ['User-Agent', 'faultline-webhooks/0.1.0'],
      ['Svc-Event', type],
      ['Svc-Delivery', delivery],
      ['Svc-Timestamp', String(seconds)],
      ['Svc-Signature', `t=${seconds},v1=${signature}`],
    ],
    response_headers:
      typeof answer === 'number'
        ? [
            ['content-type', 'text/plain'],
            ['server', 'envoy'],
          ]
        : [],
    response_body: typeof answer === 'number' ? (answer === 503 ? 'upstream connect error' : 'ok') : null,
  }
}
