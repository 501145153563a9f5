import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Milliseconds, Rate, Timestamp } from '../../platform/kernel/page.api.ts'
import {
  percentileSeconds,
  performanceFilters,
  performanceRange,
  Quantiles,
  Requests,
  Spread,
} from '../performance/performance.api.ts'

/** One transaction, and the operations of all transactions. */

const count = z.number().int()
const duration = Milliseconds.nullable()
const fraction = Rate.nullable()
const { release, environment, os, device_class: deviceClass } = performanceFilters

const Part = Quantiles.extend({ name: z.string(), failures: count, failure_rate: fraction })

const TimePart = z.object({
  name: z
    .string()
    .describe(
      'A host, `Database`, `Queues`, `Cache`, `Resources`, `Own code` for the time that no span covers, an op, or `Everything else`.',
    ),
  share: Rate.describe('Of the own time of all spans, 0 to 1.'),
  ms_per_request: Milliseconds,
  spans_per_request: Rate,
})

const WHY = ['p50', 'p75', 'p95', 'slowest', 'failed'] as const

const Sample = z.object({
  why: z.enum(WHY).describe('The stored trace nearest to the percentile; the slowest; the newest with an error.'),
  trace_id: z.string(),
  duration_ms: Milliseconds,
  at: Timestamp,
})
export type Sample = z.infer<typeof Sample>

const IssueInside = z.object({
  issue_id: Id,
  short_id: z.string(),
  title: z.string(),
  level: z.string(),
  traces: count.describe('Stored traces that hold one of its events.'),
  last_at: Timestamp,
})

export const TransactionDetail = Requests.extend({
  name: z.string(),
  op: z.string(),
  range: z.string(),
  interval_seconds: count,
  percentile_seconds: percentileSeconds,
  users: count
    .nullable()
    .describe(
      'Distinct users that transactions name by id, user name or e-mail address, exact up to 2,000 and within 2 % beyond; null where none names one. Counted since this version.',
    ),
  previous_users: count.nullable().describe('In the range before; null where none names one.'),
  share_of_time: fraction.describe('Of the durations of all transactions together, 0 to 1; null without any.'),
  spread: Spread,
  series: z.array(Quantiles.extend({ t: Timestamp, failure_rate: fraction, incomplete: z.literal(true).optional() })),
  by_release: z.array(Part).describe('Most requests first, at most 25, like the others.'),
  by_environment: z.array(Part),
  by_os: z.array(Part),
  by_device_class: z.array(Part),
  time: z
    .array(TimePart)
    .describe(
      'Where the time goes, largest first: of every request that arrived with its spans. Only environment narrows it.',
    ),
  samples: z.array(Sample),
  issues: z.array(IssueInside).describe('Most traces first, at most 10.'),
})
z.globalRegistry.add(TransactionDetail, { id: 'TransactionDetail' })
export type TransactionDetail = z.infer<typeof TransactionDetail>

const Operation = z.object({
  name: z
    .string()
    .describe(
      'The statement without values, the host, the queue, the key without ids, or the resource; `<other>` for those above the limit of a day.',
    ),
  op: z.string(),
  count: count.describe('Spans.'),
  per_request: fraction.describe(
    'Spans for each request of the transactions that have it; null when none of these was counted.',
  ),
  p50_ms: duration.describe('Median in milliseconds; null for fewer than 20 spans, as the p75 and p95.'),
  p75_ms: duration,
  p95_ms: duration,
  total_ms: Milliseconds,
  failures: count,
  hit_rate: fraction.describe('Share of reads of a cache that were hits, 0 to 1; null where spans do not say.'),
  transaction: z.string().nullable().describe('With most of its time; null where the spans did not name one.'),
  transactions: count,
  trace_id: z
    .string()
    .nullable()
    .describe('With its longest span among the 100 newest stored traces; null when none of them has it.'),
})

const operations = z.array(Operation).describe('Most time first, at most 20.')

export const SpanOperations = z.object({
  range: z.string(),
  queries: operations,
  outgoing: operations,
  queues: operations,
  caches: operations,
  resources: operations,
})
z.globalRegistry.add(SpanOperations, { id: 'SpanOperations' })

export type SpanOperations = z.infer<typeof SpanOperations>

/** Routes that combine counts with stored traces. */
export const transactionRoutes = routes({
  readTransaction: {
    method: 'GET',
    path: '/api/performance/transaction',
    tag: 'Metrics',
    summary: 'A transaction: over time, its spread, by release and tag, where its time goes, sample traces and issues',
    description:
      '404 where it did not run in the range. Figures and `time` are counted from every transaction that arrived; `samples` and `issues` come from stored traces.',
    permission: 'metrics.read',
    query: z.strictObject({
      projectId: Id,
      range: performanceRange,
      release,
      environment,
      os,
      device_class: deviceClass,
      name: z
        .string()
        .min(1, { error: 'name must not be empty.' })
        .max(250, { error: 'name must be at most 250 characters.' }),
      op: z.string().min(1).max(64).optional().describe('Operation; the one with most requests unless given.'),
    }),
    response: TransactionDetail,
    refusals: [404],
  },
  listSpanOperations: {
    method: 'GET',
    path: '/api/performance/operations',
    tag: 'Metrics',
    summary: 'Queries, outgoing requests, queues, caches and resources',
    description:
      'Counted from every span that arrived in the range. Each list has at most 20 rows, so there is no total.',
    permission: 'metrics.read',
    query: z.strictObject({ projectId: Id, range: performanceRange, environment }),
    response: SpanOperations,
    refusals: [404],
  },
})
