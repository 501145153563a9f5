import { RANGES } from '#shared/issue-values.ts'
import { z } from 'zod'
import { routes } from '../../kernel/contract.ts'
import { Id } from '../../kernel/page.api.ts'

const Summary = z.object({
  total: z.number().int().describe('Sessions that began in it.'),
  crash_free_sessions: z.number().nullable().describe('1 - crashed / sessions; null without sessions.'),
  crashed_users: z
    .number()
    .int()
    .nullable()
    .describe(
      'Distinct users per project of sessions that crashed, about 2 % exact; null when no session names its user, or where too many intervals would have to be merged.',
    ),
})

/** How sessions went, in a few figures. */
export const sessionSummaryRoutes = routes({
  readSessionSummary: {
    method: 'GET',
    path: '/api/sessions/summary',
    tag: 'Releases',
    summary: 'Crash-free sessions and users met by a crash, against the time before',
    description:
      'The same time as `GET /api/issues/volume`: whole intervals of the range up to now, and the range before it. Somebody who uses two projects counts in both.',
    permission: 'releases.read',
    query: z.strictObject({
      projectId: z
        .preprocess((given) => (given === undefined || Array.isArray(given) ? given : [given]), z.array(Id).max(100))
        .optional()
        .describe('May repeat; all projects of the organisation unless given.'),
      range: z.enum(RANGES, { error: 'range must be one of 1h, 24h, 7d, 30d.' }).default('24h'),
    }),
    response: Summary.extend({ range: z.string(), previous: Summary }),
  },
})
