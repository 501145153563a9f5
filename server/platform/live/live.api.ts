import { z } from 'zod'
import { routes } from '../kernel/contract.ts'

/** A live message of `GET /api/live`: the event name is `kind`, the data is the object. */
export const LiveMessage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('issues'),
    project_id: z.string(),
    /** Issues whose counts or status changed; empty when there are more than a message can name. */
    issue_ids: z.array(z.string()),
    /** Issues seen for the first time. */
    new_issue_ids: z.array(z.string()),
    event_count: z.number().int(),
  }),
  z.object({ kind: z.literal('project'), project_id: z.string() }),
  /** Releases that are new, received their first event or were changed; empty when there are more than a message can name. */
  z.object({ kind: z.literal('releases'), project_id: z.string(), release_ids: z.array(z.string()) }),
  /** The inboxes of these users changed. A stream receives it only for its own user. */
  z.object({ kind: z.literal('inbox'), user_ids: z.array(z.string()) }),
  /**
   * Deliveries of these webhook endpoints changed; empty when there are more than a message can name. At most one a second;
   * a stream receives it only when its user may read webhooks.
   */
  z.object({ kind: z.literal('webhooks'), endpoint_ids: z.array(z.string()) }),
  /** Alerts, their deliveries or rules of a project changed; `ids` is empty when there are more than a message can name. */
  z.object({ kind: z.literal('alerts'), project_id: z.string(), ids: z.array(z.string()) }),
  /** Feedback of a project arrived or was changed. */
  z.object({ kind: z.literal('feedback'), project_id: z.string() }),
  /** Files of symbols of a project were indexed or deleted: its events are read differently now. */
  z.object({ kind: z.literal('symbols'), project_id: z.string() }),
  /** The state of the end-to-end test changed. */
  z.object({ kind: z.literal('canary') }),
])
export type LiveMessage = z.infer<typeof LiveMessage>

/**
 * The first event of a stream, `recent`: what was published before it opened, merged per kind and project. Who read data
 * less than `reach_ms` ago finds here all that changed since; who read it before that reads it again.
 */
export const RecentMessages = z.object({
  reach_ms: z.number().int(),
  messages: z.array(z.object({ age_ms: z.number().int(), message: LiveMessage })),
})
export type RecentMessages = z.infer<typeof RecentMessages>

export const liveRoutes = routes({
  streamLive: {
    method: 'GET',
    path: '/api/live',
    tag: 'Live',
    summary: 'Changes of the organisation as server-sent events',
    description:
      'Named events `issues`, `releases`, `project`, `inbox`, `webhooks`, `alerts`, `feedback`, `symbols` and `canary`; a comment line every 15 s keeps the connection open. A message holds only ids and counts: read the named resource again. The first event, `recent`, has the messages of the seconds before: all of the last `reach_ms` milliseconds, each with its age.',
    permission: 'projects.read',
    stream: 'sse',
  },
})
