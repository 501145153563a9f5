import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id } from '../../platform/kernel/page.api.ts'
import { scrubFields } from './scrub-settings.api.ts'

export const ScrubbingPreview = z.object({
  event_id: z.string().nullable().describe('Null when the project has no event.'),
  issue_id: Id.nullable(),
  title: z.string().nullable(),
  changes: z.array(
    z.object({
      path: z.string().describe('Path in the event, in the syntax of rules.'),
      before: z.string().describe('The value that would be replaced, with its middle hidden.'),
      after: z.string().nullable().describe('The value that would be stored; null when it would be removed.'),
    }),
  ),
  total_changes: z.number().int().describe('All changes; at most 200 are listed.'),
})
export type ScrubbingPreview = z.input<typeof ScrubbingPreview>

export const scrubbingRoutes = routes({
  previewScrubbing: {
    method: 'POST',
    path: '/api/projects/:projectId/scrubbing/preview',
    tag: 'Projects',
    summary: 'Preview scrubbing settings on a stored event',
    description:
      'Uses the settings in the body, and the saved ones for those that are absent. Changes nothing. The default event is the newest of the project. Runs beside other requests, for at most 5 seconds of processor time.',
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
          error: 'event_id must be 32 hexadecimal digits.',
        })
        .optional(),
    }),
    response: ScrubbingPreview,
    refusals: [404],
  },
})
