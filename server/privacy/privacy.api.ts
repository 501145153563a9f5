import { z } from 'zod'
import { routes } from '../kernel/contract.ts'
import { Id, Timestamp } from '../kernel/page.api.ts'
import { scrubFields } from './scrub-settings.api.ts'

export const ScrubbingPreview = z.object({
  event_id: z.string().nullable().describe('Null when the project has no event to show it on.'),
  issue_id: Id.nullable(),
  title: z.string().nullable(),
  changes: z.array(
    z.object({
      path: z.string().describe('Where in the event, as rules name it.'),
      before: z.string().describe('What would go, with its middle hidden.'),
      after: z.string().nullable().describe('What would be stored; null where nothing is left.'),
    }),
  ),
  total_changes: z.number().int().describe('At most 200 are listed.'),
})
export type ScrubbingPreview = z.input<typeof ScrubbingPreview>

export const Erasure = z.object({
  state: z.enum(['running', 'done']).describe('Running goes on by itself; what arrived before the request goes, too.'),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
  erased: z.record(z.string(), z.number().int()).describe('How many of what, so far: events, issues, feedback, …'),
})
export type Erasure = z.input<typeof Erasure>

export const privacyRoutes = routes({
  previewScrubbing: {
    method: 'POST',
    path: '/api/projects/:projectId/scrubbing/preview',
    tag: 'Projects',
    summary: 'What scrubbing settings would change in a stored event',
    description:
      'Settings named in the body are taken as proposed, the others as saved; nothing is changed. Without event_id the newest event of the project is shown.',
    permission: 'projects.write',
    params: z.object({ projectId: Id }),
    body: z.strictObject({
      scrub_rules: scrubFields.scrub_rules.optional(),
      scrub_fields: scrubFields.scrub_fields.optional(),
      safe_fields: scrubFields.safe_fields.optional(),
      scrub_ip_addresses: scrubFields.scrub_ip_addresses.optional(),
      scrub_email_addresses: scrubFields.scrub_email_addresses.optional(),
      event_id: z
        .string()
        .regex(/^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, {
          error: 'event_id takes 32 hexadecimal digits.',
        })
        .optional(),
    }),
    response: ScrubbingPreview,
    refusals: [404],
  },
  eraseUserData: {
    method: 'DELETE',
    path: '/api/projects/:projectId/users/:userId/data',
    tag: 'Projects',
    summary: "Erase everything stored of one of the app's users",
    description:
      'The user is named as events name them: id, else user name, else e-mail address, else IP address. Removes their events with files and feedback, and their traces in sessions, logs and metrics; counts stay. What takes longer than a few seconds, or is not digested yet, is done in the background: ask again to see how far it is. Asking again is safe.',
    permission: 'projects.write',
    params: z.object({ projectId: Id, userId: z.string().min(1).max(1_000) }),
    response: Erasure,
    refusals: [404],
  },
})
