import { RANGES } from '#shared/issue-values.ts'
import { MAX_EVENTS_PER_DAY } from '#shared/limits.ts'
import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

export const Outcome = z.enum(['accepted', 'filtered', 'rate_limited', 'invalid', 'duplicate', 'discarded', 'dropped'])
const Count = z.number().int().min(0)

/** Same names as error categories of the protocol: error, transaction, span, session, log_item, … */
const category = z.string()

export const Quota = z.object({
  events_per_day: Count.nullable().describe('Errors, transactions and security reports a day (UTC); null: no quota.'),
  used_today: Count.describe('Events counted today; 0 without a quota, because then nothing is counted.'),
  resets_at: Timestamp,
})

export const Intake = z.object({
  range: z.string(),
  interval_seconds: z.number().int(),
  from: Timestamp,
  to: Timestamp,
  points: z
    .array(
      z.object({
        t: Timestamp,
        outcomes: z.array(z.object({ outcome: Outcome, category, quantity: Count })),
      }),
    )
    .describe('Items by hour of receipt (by six hours over 30 days), whatever time they carry; empty hours included.'),
  totals: z
    .array(z.object({ outcome: Outcome, reason: z.string(), category, quantity: Count }))
    .describe(
      'The same by reason, largest first: their sums are those of the points. Every item has exactly one outcome.',
    ),
  keys: z
    .array(
      z.object({
        key_id: Id,
        public_key: z.string().nullable().describe('Null when the key was deleted.'),
        outcomes: z.array(z.object({ outcome: Outcome, quantity: Count })),
      }),
    )
    .describe('The same by key, without client reports (category internal).'),
  client_losses: z
    .array(
      z.object({
        kind: z.enum(['discarded', 'rate_limited', 'filtered', 'filtered_sampling']),
        reason: z.string(),
        category,
        quantity: Count,
      }),
    )
    .describe('Items that SDKs report to have dropped before sending, largest first. Not part of the outcomes.'),
  storms: z
    .array(
      z.object({
        t: Timestamp,
        let_through: Count.describe('Events accepted over the limit because their kind was new.'),
        fingerprints: Count.describe('The number of their kinds.'),
        first_at: Timestamp,
        last_at: Timestamp,
      }),
    )
    .describe(
      'Flood sampling: hours in which a key was over its limit for errors and events of new kinds were accepted.',
    ),
  costly_rules: z
    .array(
      z.object({
        path: z.string(),
        regex: z.string(),
        requests: Count.describe('Requests in which it replaced a text.'),
        texts: Count,
        last_at: Timestamp,
      }),
    )
    .describe(
      'Scrubbing rules whose expression costs too much, most recent first: texts that they would search were replaced by [Filtered: too costly].',
    ),
  waiting: z
    .object({
      requests: Count,
      bytes: Count.describe('Bytes, as received.'),
      oldest_seconds: Count.describe('Age of the oldest in seconds; 0 when none waits.'),
    })
    .describe('Requests of the project that were accepted and are not digested yet.'),
  limits: z.object({
    per_minute: Count.nullable().describe('Items of one category per key; null: switched off.'),
    burst_10s: Count.nullable(),
    sessions_per_minute: Count.nullable(),
    entries_per_minute: Count.nullable().describe('Spans, log entries and metrics; null: switched off.'),
    is_default: z.boolean(),
    spike_protection: z.boolean(),
    new_issues: z
      .object({
        per_hour: Count.describe('0: no limit.'),
        used_this_hour: Count,
        per_day: Count.describe('0: no limit.'),
        used_today: Count,
      })
      .describe('Issues that events created; beyond the limits, events of unknown kinds are collected in one issue.'),
  }),
  quota: Quota,
})

export const intakeRoutes = routes({
  readIntake: {
    method: 'GET',
    path: '/api/projects/:projectId/intake',
    tag: 'Intake',
    summary: 'The outcomes of everything SDKs sent',
    description:
      'Requests count once their key and envelope header are valid; earlier refusals are in /-/metrics only. A request refused before its items were read counts as one item of the category default. Refusals appear within five seconds.',
    permission: 'projects.read',
    params: z.object({ projectId: Id }),
    query: z.strictObject({
      range: z.enum(RANGES, { error: 'range must be one of 1h, 24h, 7d, 30d.' }).default('24h'),
    }),
    response: Intake,
    refusals: [404],
  },
  readQuota: {
    method: 'GET',
    path: '/api/organization/quota',
    tag: 'Intake',
    summary: 'How many events the organisation may send a day',
    permission: 'projects.read',
    response: Quota,
  },
  updateQuota: {
    method: 'PATCH',
    path: '/api/organization/quota',
    tag: 'Intake',
    summary: 'Set or remove the quota of the organisation',
    description:
      'Every process applies it within a second. SDKs that were refused because of the quota retry within five minutes.',
    permission: 'projects.write',
    body: z.strictObject({
      events_per_day: z
        .number({ error: 'events_per_day must be a whole number, or null for no quota.' })
        .int({ error: 'events_per_day must be a whole number, or null for no quota.' })
        .min(0, { error: 'events_per_day must not be negative.' })
        .max(MAX_EVENTS_PER_DAY, { error: 'events_per_day must be at most 1,000,000,000.' })
        .nullable(),
    }),
    response: Quota,
  },
})
