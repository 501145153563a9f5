import { z } from 'zod'
import { Id, Rate, Timestamp } from '../../platform/kernel/page.api.ts'

/** The finding of a chart, computed from its data; clients write the sentence. */
export const Finding = z
  .discriminatedUnion('kind', [
    z
      .object({
        kind: z.enum(['rose', 'fell']),
        since: Timestamp.describe('Start of the interval from which on the rate is another one.'),
        before: Rate,
        after: Rate,
        release: z
          .string()
          .nullable()
          .describe('The release whose date lies within two intervals of it; null without one.'),
      })
      .describe('A rate changed within the range by more than chance explains.'),
    z.object({ kind: z.literal('steady'), value: Rate }).describe('A rate shows no such change.'),
    z
      .object({ kind: z.literal('passes_limit'), limit: Rate, at: Timestamp, days: z.number().int() })
      .describe('At its slope, the 28-day rate passes the limit of app stores.'),
    z
      .object({ kind: z.literal('issue'), issue_id: Id, short_id: z.string(), share: Rate })
      .describe('The largest part of the rise is one issue.'),
    z
      .object({ kind: z.literal('peak'), at: Timestamp, value: Rate, times: Rate })
      .describe('The largest interval, and how many times the median it is.'),
    z
      .object({ kind: z.literal('changed'), share: Rate })
      .describe('A count against the range before: 0.18 is 18 % more.'),
    z
      .object({ kind: z.literal('lost'), dropped: z.number().int(), rate_limited: z.number().int() })
      .describe('Events of the range that were not stored.'),
    z
      .object({ kind: z.literal('affected'), users: z.number().int(), share: Rate })
      .describe('Users with a crash, and their share of the active ones.'),
  ])
  .describe('One finding, as kind and numbers.')
export type Finding = z.infer<typeof Finding>
