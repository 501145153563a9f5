import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'
import { InboundFiltersPatch } from './inbound-filters.api.ts'

export const FiltersPreview = z.object({
  looked_at: z.number().int().describe('Number of stored events that were checked, newest first.'),
  of: z.number().int().describe('Number of stored events to check: the newest, at most 10,000.'),
  oldest_at: Timestamp.nullable().describe('When the oldest checked event occurred; null when none was checked.'),
  would_drop: z.number().int().describe('Events that at least one filter would have dropped.'),
  filters: z.array(
    z.object({
      filter: z.string().describe('The reason of the outcome, such as release.'),
      pattern: z.string().nullable().describe('The line of a filter with several lines; null for the others.'),
      would_drop: z.number().int().describe('An event that several filters would drop counts for each of them.'),
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
    summary: 'Preview which of the newest stored events inbound filters would have dropped',
    description:
      'Uses the filters of the body, and the saved ones for the rest; changes nothing. Checks the newest 10,000 events for at most 8 seconds: looked_at of the events in `of`. Events dropped earlier are not stored, and neither are transactions, so the health-check filter is not included.',
    permission: 'projects.write',
    params: z.object({ projectId: Id }),
    body: z.strictObject({ inbound_filters: InboundFiltersPatch }),
    response: FiltersPreview,
    refusals: [404],
  },
})
