import { Attachment } from '../../events/attachments/attachments.api.ts'
import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, offsetQuery, pageQuery, pageSchema, Rate, Timestamp, oneOrMany } from '../../platform/kernel/page.api.ts'
import { Event, EventLevel, Tag } from '../../events/protocol/event.api.ts'

/** The events of an issue, and the values they share. */

const repeatable = <T extends z.ZodType>(element: T) => oneOrMany(z.array(element).max(20).optional())

/** Filters over the events of an issue; GET /api/issues/:issueId takes them, too. */
export const eventQuery = {
  release: repeatable(z.string().max(250)).describe(
    'With or without its package; may repeat. Empty for events without a release.',
  ),
  environment: repeatable(z.string().max(64)).describe('May repeat.'),
  level: repeatable(EventLevel).describe('May repeat.'),
  user: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Id of the user; name, e-mail or IP address of users without an id.'),
  tag: repeatable(z.string().max(500)).describe('key:value; an event must have all of them.'),
  q: z
    .string()
    .max(2_000, { error: 'q must be at most 2,000 characters.' })
    .optional()
    .describe(
      'A query of the language of issue lists: words in title, message or culprit, and terms such as `level:fatal`, `release:1.2.*`, `user:kim@example.com`, `tenant:acme`. Terms that only issues have, such as `is:` or `events:`, are refused.',
    ),
  from: z.iso.datetime({ offset: true, error: 'from must be an RFC 3339 time.' }).optional().describe('At or after.'),
  to: z.iso.datetime({ offset: true, error: 'to must be an RFC 3339 time.' }).optional().describe('Before.'),
}

/** The user whom an event affected. */
const EventUser = z.object({
  key: z.string().nullable().describe('For the filter `user`; null when the event names no user that can be counted.'),
  label: z.string().nullable(),
})

export const EventRow = z.object({
  event_id: z.string(),
  occurred_at: Timestamp,
  received_at: Timestamp,
  title: z.string().nullable().describe('Null when the body is damaged.'),
  level: z.string(),
  release: z.string().nullable(),
  environment: z.string(),
  user: EventUser.nullable(),
  device: z.string().nullable(),
  os: z.string().nullable(),
  is_unhandled: z.boolean(),
  tags: z.array(Tag),
})
export type EventRow = z.infer<typeof EventRow>

const lookedAt = z.number().int().describe('Number of events that were read. Filters read a bounded number per page.')
const complete = z.boolean().describe('Whether these were all stored events.')

const issueParams = z.object({ issueId: Id })
const { limit, offset } = offsetQuery(25)

const Share = z.object({
  key: z.string(),
  value: z.string(),
  count: z.number().int(),
  share: Rate.describe("Of this issue's events that were read, 0 to 1."),
  baseline_count: z.number().int(),
  baseline_share: Rate.nullable().describe("Of the project's other events, 0 to 1; null when there were none."),
  lift: Rate.nullable().describe(
    'How many times as frequent as in the rest of the project; close to 1 for small samples. Null when there were no other events.',
  ),
})

export const issueEventRoutes = routes({
  listIssueEvents: {
    method: 'GET',
    path: '/api/issues/:issueId/events',
    tag: 'Issues',
    summary: 'Stored events of an issue, newest first',
    description:
      'Filters by release, environment, level and user read 2,000 events per page, those by tag and query 200; `looked_at` is the number of events read. `next_cursor` continues after them, also from a page without a match; filters cannot be combined with `offset`. Without a filter `total` counts all stored events; with a filter, the matches on this page, with `total_capped` when there may be more.',
    permission: 'issues.read',
    params: issueParams,
    query: z.strictObject({ ...pageQuery(25), ...eventQuery }),
    response: pageSchema(EventRow).extend({ looked_at: lookedAt }),
    refusals: [404],
  },
  readIssueEvent: {
    method: 'GET',
    path: '/api/issues/:issueId/events/:eventId',
    tag: 'Issues',
    summary: 'One event, as it is shown and as it is stored',
    description: '`payload` is the JSON the SDK sent after scrubbing.',
    permission: 'issues.read',
    params: z.object({ issueId: Id, eventId: z.string().regex(/^[0-9a-fA-F-]{32,36}$/) }),
    response: z.object({
      event: Event.nullable().describe('Null when the body is damaged.'),
      payload: z.unknown(),
      size_bytes: z.number().int(),
    }),
    refusals: [404],
  },
  addAttachment: {
    method: 'POST',
    path: '/api/issues/:issueId/events/:eventId/attachments',
    tag: 'Issues',
    summary: 'Add a file to an event',
    description:
      'The body is the file, unchanged, of at most 100 MiB; `content-type` is its type. For what an app did not send, such as a log that a user mailed. The file is listed and deleted with those of the event, and is not scrubbed. A file that the event has already is refused.',
    permission: 'issues.write',
    status: 201,
    params: z.object({ issueId: Id, eventId: z.string().regex(/^[0-9a-fA-F-]{32,36}$/) }),
    query: z.strictObject({ filename: z.string().min(1).max(1_000) }),
    upload: { maxBytes: 100 * 1024 * 1024 },
    response: Attachment,
    refusals: [404, 409],
  },
  readSharedValues: {
    method: 'GET',
    path: '/api/issues/:issueId/tags',
    tag: 'Issues',
    summary: 'Values that the events of an issue share, compared with the rest of the project',
    description:
      "Tags, release, environment, device, os and browser of the issue's newest events, compared with the project's newest other events (a sample of at most 300, at most 5 minutes old). Sorted by `lift`.",
    permission: 'issues.read',
    params: issueParams,
    response: z.object({
      events: z.number().int().describe("Number of this issue's newest events that were read."),
      baseline_events: z.number().int().describe("Number of the project's other events that were read."),
      items: z.array(Share),
    }),
    refusals: [404],
  },
  readIssueTrend: {
    method: 'GET',
    path: '/api/issues/:issueId/trend',
    tag: 'Issues',
    summary: 'Events of an issue over time',
    description: 'Hourly over 24 hours, else in buckets of 2, 4, 8 and 24 hours. The newest bucket is incomplete.',
    permission: 'issues.read',
    params: issueParams,
    query: z.strictObject({
      range: z
        .enum(['24h', '7d', '14d', '30d', '90d'], { error: 'range must be one of 24h, 7d, 14d, 30d, 90d.' })
        .default('14d'),
    }),
    response: z.object({
      range: z.string(),
      interval_seconds: z.number().int(),
      start: Timestamp,
      counts: z.array(z.number().int()).describe('Oldest first.'),
      total: z.number().int(),
    }),
    refusals: [404],
  },
  listIssueUsers: {
    method: 'GET',
    path: '/api/issues/:issueId/users',
    tag: 'Issues',
    summary: 'Affected users of an issue',
    description:
      'Among its newest 5,000 stored events; the user with the most events first. `user_count` of the issue counts all affected users.',
    permission: 'issues.read',
    params: issueParams,
    query: z.strictObject({ limit, offset }),
    response: pageSchema(
      EventUser.extend({
        events: z.number().int(),
        first_seen: Timestamp,
        last_seen: Timestamp,
        last_event_id: z.string(),
      }),
    ).extend({ looked_at: lookedAt, complete }),
    refusals: [404],
  },
  listIssueReleases: {
    method: 'GET',
    path: '/api/issues/:issueId/releases',
    tag: 'Issues',
    summary: 'Releases with events of an issue, and their counts',
    description: 'Among its newest 5,000 stored events; the release with the newest event first.',
    permission: 'issues.read',
    params: issueParams,
    response: z.object({
      items: z
        .array(
          z.object({
            release: z.string().nullable(),
            events: z.number().int(),
            share: Rate,
            first_seen: Timestamp,
            last_seen: Timestamp,
          }),
        )
        .describe('Releases of the events that were read, so there is no total.'),
      looked_at: lookedAt,
      complete,
    }),
    refusals: [404],
  },
})
