import { z } from 'zod'
import { MAX_EVENTS_PER_MINUTE } from '#shared/limits.ts'

export const limitFields = {
  rate_limit_per_minute: z
    .number()
    .int()
    .min(1)
    .max(MAX_EVENTS_PER_MINUTE)
    .nullable()
    .describe('Per key; null for the default of 3,000.'),
  spike_protection: z
    .boolean()
    .describe('Over the limit, the first events of problems not seen before still get through.'),
}
