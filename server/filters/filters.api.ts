import { z } from 'zod'
import { routes } from '../kernel/contract.ts'
import { Id, Timestamp } from '../kernel/page.api.ts'
import { InboundFiltersPatch } from './inbound-filters.api.ts'

export const FiltersPreview = z.object({
  looked_at: z.number().int().describe('Stored events that were judged, newest first.'),
  of: z.number().int().describe('How many there were to judge: the newest, at most 10,000.'),
  oldest_at: Timestamp.nullable().describe('When the oldest of those judged occurred.'),
  would_drop: z.number().int().describe('Events at least one filter would have dropped.'),
  filters: z.array(
    z.object({
      filter: z.string().describe('The reason such an event would be counted with, such as release.'),
      pattern: z.string().nullable().describe('The line of a filter that has several.'),
      would_drop: z.number().int().describe('An event several filters would drop counts with each of them.'),
      examples: z.array(z.object({ issue_id: Id, event_id: z.string(), title: z.string() })),
    }),
  ),
})
export type FiltersPreview = z.input<typeof FiltersPreview>

export const filterRoutes = routes({
  previewFilters: {
    method: 'POST',
    path: '/api/projects/:projectId/filters/preview',
    tag: 'Projects',
    summary: 'What inbound filters would have dropped of the newest stored events',
    description:
      'Filters named in the body are taken as proposed, the others as saved; nothing is changed. Looks at the newest 10,000 events for at most eight seconds: looked_at and of say how far it came. Events dropped earlier are not stored, and neither are transactions, so health checks are not among the filters.',
    permission: 'projects.write',
    params: z.object({ projectId: Id }),
    body: z.strictObject({ inbound_filters: InboundFiltersPatch }),
    response: FiltersPreview,
    refusals: [404, 429],
  },
})
