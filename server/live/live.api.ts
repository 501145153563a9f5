import { z } from 'zod'
import { routes } from '../kernel/contract.ts'

/** One change, as it travels on `GET /api/live`: event name is `kind`, data is the object. */
export const LiveMessage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('issues'),
    project_id: z.string(),
    /** Issues whose counts or status changed; empty when there were too many to name. */
    issue_ids: z.array(z.string()),
    /** Issues seen for the first time. */
    new_issue_ids: z.array(z.string()),
    event_count: z.number().int(),
  }),
  z.object({ kind: z.literal('project'), project_id: z.string() }),
  /** Releases that are new, were heard of for the first time, or that somebody changed; empty when they were many. */
  z.object({ kind: z.literal('releases'), project_id: z.string(), release_ids: z.array(z.string()) }),
  /** News in the inbox of these people; each hears only of themselves. */
  z.object({ kind: z.literal('inbox'), user_ids: z.array(z.string()) }),
])
export type LiveMessage = z.infer<typeof LiveMessage>

export const liveRoutes = routes({
  streamLive: {
    method: 'GET',
    path: '/api/live',
    tag: 'Live',
    summary: 'Changes of the organisation as server-sent events',
    description:
      'Named events `issues`, `releases`, `project` and `inbox`; a comment line every 15 s keeps the connection open. Fetch the resource named; the stream never carries more than ids and counts.',
    permission: 'projects.read',
    stream: 'sse',
  },
})
