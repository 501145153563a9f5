import { z } from 'zod'
import { MAX_EVENTS_PER_MINUTE, MAX_NEW_ISSUES } from '#shared/limits.ts'

const newIssues = (period: string) =>
  z
    .number()
    .int()
    .min(0)
    .max(MAX_NEW_ISSUES)
    .describe(
      `Issues that events may create per ${period}; 0 for no limit. Events beyond it are collected in one issue.`,
    )

export const limitFields = {
  rate_limit_per_minute: z
    .number()
    .int()
    .min(1)
    .max(MAX_EVENTS_PER_MINUTE)
    .nullable()
    .describe('Per key; null for the default of 3,000.'),
  new_issues_per_hour: newIssues('hour'),
  new_issues_per_day: newIssues('UTC day'),
  spike_protection: z
    .boolean()
    .describe('Over the limit, the first events of problems not seen before still get through.'),
}
