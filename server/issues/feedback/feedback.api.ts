import { z } from 'zod'
import { Attachment } from '../../events/attachments/attachments.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'

export const Feedback = z.object({
  id: Id,
  project_id: Id,
  message: z.string().describe("The user's text, at most 4,096 characters."),
  name: z.string().nullable(),
  email: z.string().nullable(),
  url: z.string().nullable().describe('The page or screen where it was written.'),
  source: z.string().nullable().describe('The form it was sent with, such as widget or crash_report_modal.'),
  replay_id: z.string().nullable(),
  release: z.string().nullable(),
  environment: z.string().nullable(),
  event_id: z.string().nullable().describe('The event it refers to, which may arrive later or never.'),
  issue_id: Id.nullable().describe('The issue of that event, once it has arrived.'),
  attachments: z.array(Attachment).describe('Files sent with it, such as a screenshot.'),
  received_at: Timestamp,
})
export type Feedback = z.infer<typeof Feedback>

export const feedbackRoutes = routes({
  listFeedback: {
    method: 'GET',
    path: '/api/projects/:projectId/feedback',
    tag: 'Projects',
    summary: "Feedback of the app's users",
    description: 'Feedback items and the older user reports, newest first unless sorted otherwise.',
    permission: 'issues.read',
    params: z.object({ projectId: Id }),
    query: z.strictObject({
      ...pageQuery(25),
      sort: z
        .enum(['received_at', '-received_at'], {
          error: 'sort must be received_at, with a leading - for descending.',
        })
        .default('-received_at'),
      issue_id: Id.optional(),
      linked: z
        .enum(['true', 'false'], { error: 'linked must be true or false.' })
        .optional()
        .describe('Only feedback with a known issue, or only without one.'),
      release: z.string().min(1).max(250).optional(),
      environment: z.string().min(1).max(64).optional(),
    }),
    response: pageSchema(Feedback),
    refusals: [404],
  },
})
