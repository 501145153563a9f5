import { RANGES } from '#shared/issue-values.ts'
import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Rate, oneOrMany } from '../../platform/kernel/page.api.ts'

const Summary = z.object({
  total: z.number().int().describe('Sessions that started in the range.'),
  crash_free_sessions: Rate.nullable().describe('Share of sessions that did not crash, 0 to 1; null without sessions.'),
  crashed_users: z
    .number()
    .int()
    .nullable()
    .describe(
      'Distinct users of crashed sessions per project, exact up to 2,000, else with an error of about 1 %; null when no session names its user.',
    ),
})

/** Routes of session summaries. */
export const sessionSummaryRoutes = routes({
  readSessionSummary: {
    method: 'GET',
    path: '/api/sessions/summary',
    tag: 'Releases',
    summary: 'Crash-free sessions and users affected by a crash, compared with the previous range',
    description:
      'The same time as `GET /api/issues/volume`: whole intervals of the range up to now, and the previous range. A user of two projects counts in both.',
    permission: 'releases.read',
    query: z.strictObject({
      projectId: oneOrMany(z.array(Id).max(100))
        .optional()
        .describe('May repeat. All projects of the organisation by default.'),
      range: z.enum(RANGES, { error: 'range must be one of 1h, 24h, 7d, 30d.' }).default('24h'),
    }),
    response: Summary.extend({ range: z.string(), previous: Summary }),
  },
})
