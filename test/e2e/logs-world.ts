import type { LogLevel } from '#server/events/protocol/telemetry.api.ts'
import type { Attributes } from '#server/events/protocol/attributes.ts'
import { utcDay } from '#server/platform/kernel/day.ts'
import { ensureDayPartitions } from '#server/platform/storage/day-partitions.ts'
import { insertEntries } from '#server/telemetry/logs/entries.queries.ts'
import { LOGS, TRACE_METRICS } from '#server/telemetry/logs/record-entries.ts'
import type { TestServer } from '../kit/test-server.ts'

/** Logs and trace metrics of the past, for tests of the dashboard: its services run on the real clock. */

const MINUTE_MS = 60_000

type Line = { level: LogLevel; body: string; minutesAgo: number; attributes?: Attributes; traceId?: string | null }

const text = (value: string) => ({ value, type: 'string' }) as const
const number = (value: number) => ({ value, type: 'integer' }) as const

/** Writes log lines, as an SDK would have sent them. */
export async function writeLines(
  { app }: TestServer,
  projectId: string,
  lines: readonly Line[],
  nowMs = Date.now(),
): Promise<void> {
  const receivedAt = new Date(nowMs)
  await ensureDayPartitions(app.db, [{ table: 'logs' }], utcDay(receivedAt))
  await app.tx((tx) =>
    insertEntries(
      tx,
      LOGS,
      lines.map(({ level, body, minutesAgo, attributes = {}, traceId = null }) => ({
        projectId,
        receivedAt,
        occurredAt: new Date(nowMs - minutesAgo * MINUTE_MS),
        level,
        severityNumber: 9,
        body,
        traceId,
        spanId: null,
        release: '2026.11.4',
        environment: 'production',
        attributes,
        notes: [],
      })),
    ),
  )
}

const TRACE = '7c1e4f0a7c1e4f0a7c1e4f0a7c1e4f0a'
const ODD: readonly Line[] = [
  {
    level: 'info',
    body: '\u001b[31mnot red\u001b[0m <img src=x onerror="document.title=1"><script>1</script>',
    minutesAgo: 1.2,
  },
  { level: 'info', body: 'تم تأكيد الطلب 5519274 من المتجر', minutesAgo: 1.3, attributes: { مفتاح: text('قيمة') } },
  { level: 'debug', body: `${'a very long line '.repeat(500)}end`, minutesAgo: 1.4 },
]

/** An hour of a service whose token exchange begins to be refused, and its measurements. */
export async function pastLines(server: TestServer, projectId: string, nowMs = Date.now()): Promise<void> {
  const lines = Array.from({ length: 290 }, (_, place): Line => {
    const minutesAgo = 0.1 + place * 0.2
    const host = text(`orders-7d4-${['x2k', '9hw', 'q5c'][place % 3]}`)
    const isRefused = place < 40 && place % 3 !== 0
    if (isRefused)
      return {
        level: 'error',
        body: 'token exchange refused: 429 Too Many Requests',
        minutesAgo,
        traceId: TRACE,
        attributes: { 'logger.name': text('orders.auth'), 'server.address': host, retry_after: number(30) },
      }
    const level = (['info', 'debug', 'info', 'warn', 'debug'] as const)[place % 5] ?? 'info'
    const attributes = {
      'logger.name': text('orders.slots'),
      'server.address': host,
      order_id: text(`o_${5_519_000 + place}`),
    }
    return { level, body: `slots: waited ${place * 7} ms for lock on zone SE-${place % 4}`, minutesAgo, attributes }
  })
  await writeLines(server, projectId, [...lines, ...ODD], nowMs)
  const receivedAt = new Date(nowMs)
  await ensureDayPartitions(server.app.db, [{ table: 'trace_metrics' }], utcDay(receivedAt))
  const measured = Array.from({ length: 900 }, (_, place) => ({
    projectId,
    receivedAt,
    occurredAt: new Date(nowMs - place * MINUTE_MS),
    traceId: TRACE,
    spanId: null,
    release: '2026.11.4',
    environment: 'production',
    attributes: { region: text(['eu', 'us', 'af'][place % 3] ?? 'eu') },
    notes: [],
  }))
  await server.app.tx((tx) =>
    insertEntries(
      tx,
      TRACE_METRICS,
      measured.flatMap((common, place) => [
        {
          ...common,
          name: 'queue.wait',
          type: 'distribution' as const,
          unit: 'millisecond',
          value: 40 + ((place * 37) % 90),
        },
        {
          ...common,
          name: 'queue.depth',
          type: 'gauge' as const,
          unit: null,
          value: Math.round(20 + 12 * Math.sin(place / 60)),
        },
        ...(place % 2 === 0
          ? [{ ...common, name: 'orders.created', type: 'counter' as const, unit: null, value: 1 + (place % 4) }]
          : []),
      ]),
    ),
  )
}
