import { z } from 'zod'
import { Attachment, RefusedAttachment } from '../../events/attachments/attachments.api.ts'
import { Feedback } from '../feedback/feedback.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Json } from '../../platform/kernel/json.api.ts'
import { Id, pageQuery, pageSchema, Rate, Timestamp, oneOrMany } from '../../platform/kernel/page.api.ts'
import { Event } from '../../events/protocol/event.api.ts'
import { eventQuery } from '../issue-events/issue-events.api.ts'
import { MAX_COMMENT_CHARACTERS, MAX_QUERY_CHARACTERS } from '#shared/limits.ts'
import { RANGES, SIMILAR_PARTS } from '#shared/issue-values.ts'
import { IssueCode } from './issue-code.api.ts'
import { GroupingView } from '../merging/merging.api.ts'
import { Issue, IssueSort, IssueStatus, Person, Severity } from '../rules/issue.api.ts'
import { IgnoreUntilInput, ResolutionInput } from '../rules/life-cycle.api.ts'

export const Activity = z.object({
  id: Id,
  kind: z
    .string()
    .describe(
      'created, status_changed, resolution_changed, late_events, assigned, comment_deleted, severity_changed, merged, merged_into, unmerged, ticket_created, ticket_changed.',
    ),
  sentence: z.string(),
  actor: Person.nullable().describe('Null for changes by Faultline itself.'),
  data: z.record(z.string(), Json),
  created_at: Timestamp,
})
export type Activity = z.infer<typeof Activity>

export const Candidate = z.object({
  person: Person.nullable().describe('Null for a team.'),
  team: z.string().nullable(),
  reasons: z.array(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('suspect'), sha: z.string(), rank: z.number().int() }),
      z.object({ kind: z.literal('codeowners'), rule: z.string() }),
      z.object({ kind: z.literal('ownership_rule'), rule: z.string() }),
      z.object({ kind: z.literal('resolved_before'), at: Timestamp }),
    ]),
  ),
})
export type Candidate = z.infer<typeof Candidate>

export const IssueDetail = Issue.extend({
  project: z.object({ id: Id, name: z.string(), slug: z.string(), platform: z.string() }),
  event: Event.nullable().describe(
    'The newest event, or the requested one; null when its body was removed or is damaged.',
  ),
  kept_trace_id: z
    .string()
    .nullable()
    .describe(
      "The event's trace, which GET /api/projects/{projectId}/traces/{traceId} reads; null when its spans are not kept.",
    ),
  event_ids: z
    .object({
      latest: z.string().nullable(),
      oldest: z.string().nullable(),
      newer: z.string().nullable(),
      older: z.string().nullable(),
    })
    .describe('Neighbours of the event, among the events that pass the filters of the query.'),
  tag_distribution: z.array(
    z.object({
      key: z.string(),
      total: z.number().int(),
      values: z.array(z.object({ value: z.string(), count: z.number().int() })),
    }),
  ),
  attachments: z.array(Attachment).describe('Files of the event, at most 200.'),
  refused_attachments: z
    .array(RefusedAttachment)
    .describe('Files of the event that were refused, at most 30. The errors of the event name them, too.'),
  feedback: z.array(Feedback).describe('User feedback about events of the issue: newest first, at most 25.'),
  ticket: z
    .object({
      tracker: z.enum(['not_connected', 'works', 'slowed_down', 'broken']).describe('The tracker of the project.'),
      ticket: z
        .object({
          id: z.string(),
          url: z.string(),
          provider: z.enum(['tracker_a', 'tracker_b', 'codehost']),
          state: z.enum(['open', 'closed', 'reopening', 'gone']),
          status: z.string().nullable(),
          is_followed: z.boolean(),
          created_at: Timestamp,
        })
        .nullable(),
    })
    .describe('The ticket of the issue, as POST …/tracker-ticket answers it.'),
  activity: z.array(Activity).describe('Newest first, at most 100.'),
  grouping: GroupingView,
  code: IssueCode,
  candidates: z
    .array(Candidate)
    .describe('Members and teams who could take it, with reasons: the likeliest first, at most 5.'),
})
export type IssueDetail = z.infer<typeof IssueDetail>

export const COMMENT_SORTS = ['created_at', '-created_at'] as const

export const Comment = z.object({
  id: Id,
  issue_id: Id,
  author: Person.nullable(),
  body: z.string().describe('Markdown.'),
  created_at: Timestamp,
  edited_at: Timestamp.nullable(),
  mentions: z
    .array(z.object({ text: z.string().describe('As written, with its @.'), user: Person }))
    .describe('Members it mentions, as they were found when it was saved.'),
})
export type Comment = z.infer<typeof Comment>

const commentBody = z.strictObject({
  body: z
    .string({ error: 'body must be a string.' })
    .refine((text) => text.trim() !== '', { error: 'body must not be empty.' })
    .max(MAX_COMMENT_CHARACTERS, { error: 'body must be at most 10,000 characters.' }),
})

/** A query parameter that may repeat: one or many of the element. */
const repeatable = <T extends z.ZodType>(element: T) =>
  oneOrMany(z.array(element).max(100, { error: 'may be given at most 100 times.' }).optional())

const time = (name: string) => z.iso.datetime({ offset: true, error: `${name} must be an RFC 3339 time.` }).optional()

/** The time of counts. */
const windowQuery = {
  range: z
    .enum(RANGES, { error: 'range must be one of 1h, 24h, 7d, 30d.' })
    .optional()
    .describe('Counts events and users of this time too. It does not filter: see `seen_since`.'),
  from: time('from').describe('Instead of `range`: the start of the time, at most 90 days before `to`.'),
  to: time('to').describe('The end of the time that starts with `from`; now if absent.'),
}

const countedRange = z
  .object({ from: Timestamp, to: Timestamp })
  .nullable()
  .describe(
    'The time of the counts `…_in_range` and of the trends, in whole quarters of an hour or more; null without one.',
  )

const filterQuery = {
  status: repeatable(IssueStatus),
  severity: repeatable(Severity),
  assignee_id: repeatable(z.union([Id, z.enum(['me', 'none'])], { error: 'assignee_id must be a UUID, me or none.' })),
  platform: repeatable(z.string().max(50)),
  q: z
    .string({ error: 'q must be one text; join terms with AND or OR.' })
    .max(MAX_QUERY_CHARACTERS, { error: 'q must be at most 10,000 characters.' })
    .default('')
    .describe('A query such as `is:unresolved level:fatal release:1.2.* checkout`; issues must pass all filters.'),
}

const listQuery = {
  ...pageQuery(25),
  ...filterQuery,
  ...windowQuery,
  sort: IssueSort.default('-last_seen').describe('The fields of a range need `range`, or `from` and `to`.'),
  seen_since: time('seen_since').describe('Only issues with an event at or after this time.'),
}

const Hint = z.object({
  start: z.number().int(),
  end: z.number().int(),
  sentence: z.string(),
  replacement: z.string().nullable().describe('For this part of `q`; null if nothing is similar.'),
})
/** A page of issues of a query. */
const foundIssues = pageSchema(Issue).extend({
  range: countedRange,
  hints: z
    .array(Hint)
    .describe(
      'With the first page: keys of `q` that no issue has as a tag, and words that no issue has, with the similar word that was searched instead. Places count from 0.',
    ),
})

const issueParams = z.object({ issueId: Id })

export const issueRoutes = routes({
  listIssues: {
    method: 'GET',
    path: '/api/issues',
    tag: 'Issues',
    summary: 'Issues of the organisation, filtered and sorted',
    description:
      'Filters may repeat. `next_cursor` continues beyond offset 10,000; with it, an issue that moves to the top between two pages is not listed twice.',
    permission: 'issues.read',
    query: z.strictObject({ ...listQuery, projectId: repeatable(Id) }),
    response: foundIssues.extend({
      status_counts: z
        .record(IssueStatus, z.number().int())
        .describe('Issues per status under the same filters without status, each capped at 10,000.'),
      read_at: Timestamp.describe('By the clock of the server. The response has no later changes.'),
    }),
  },
  searchIssues: {
    method: 'GET',
    path: '/api/issues/search',
    tag: 'Issues',
    summary: 'Full-text search over issues',
    description:
      'The query language of `q` is the same in every list of issues. Words match the beginning of words in title, value, culprit, message, function and file names and tags; `"quoted"` words match whole words. `key:value` terms: `is:` `level:` `severity:` `assigned:` `project:` `platform:` `unhandled:` `release:1.2.*` `first_release:` `last_release:` `environment:` `type:` `issue:SHOP-42` `user:kim@example.com` `user.id:` `title:` `message:*Loading*` `culprit:` `device.model:"SM-A125F"` `os.name:` `first_seen:>2026-11-01` `last_seen:-24h` `age:` `events:>100` `users:>=5` `has:`; any other key is a tag. Lists `level:[error, fatal]`, `-` or `!` negate, AND, OR and parentheses join. A short id alone finds its issue. `*` stands for any characters. A malformed query is 400 and names the place.',
    permission: 'issues.read',
    query: z.strictObject({
      ...listQuery,
      projectId: repeatable(Id),
    }),
    response: foundIssues,
  },
  readIssue: {
    method: 'GET',
    path: '/api/issues/:issueId',
    tag: 'Issues',
    summary: 'An issue in full: event, breadcrumbs, frames, tags, activity',
    permission: 'issues.read',
    params: issueParams,
    query: z.strictObject({
      event: z
        .union([z.enum(['latest', 'oldest', 'most_complete']), z.string().regex(/^[0-9a-fA-F-]{32,36}$/)], {
          error: 'event must be latest, oldest, most_complete or an event id.',
        })
        .default('latest')
        .describe('most_complete: the event with the most information among the newest 50.'),
      ...eventQuery,
    }),

    response: IssueDetail,
    refusals: [404],
  },
  updateIssue: {
    method: 'PATCH',
    path: '/api/issues/:issueId',
    tag: 'Issues',
    summary: 'Change status, assignee or severity',
    description:
      'Absent fields do not change; `assignee_id: null` removes the assignee; `severity: null` unpins the severity. `resolution` requires status resolved: now, in a release (or one for each branch with the fix; an unknown release is created as planned), in the next release, or in a commit. `ignore_until` requires status ignored: the first condition that is met ends it; null ignores without a condition. A request that changes nothing returns 200.',
    permission: 'issues.write',
    params: issueParams,
    body: z
      .strictObject({
        status: IssueStatus.optional(),
        resolution: ResolutionInput.optional(),
        ignore_until: IgnoreUntilInput.nullable().optional(),
        assignee_id: Id.nullable().optional(),
        severity: Severity.nullable().optional(),
      })
      .refine((body) => Object.values(body).some((value) => value !== undefined), {
        error: 'Send at least one of status, assignee_id, severity.',
      })
      .refine((body) => body.resolution === undefined || body.status === 'resolved', {
        error: 'resolution requires status "resolved".',
      })
      .refine((body) => body.ignore_until === undefined || body.status === 'ignored', {
        error: 'ignore_until requires status "ignored".',
      }),
    response: Issue,
    refusals: [404],
  },
  deleteIssue: {
    method: 'DELETE',
    path: '/api/issues/:issueId',
    tag: 'Issues',
    summary: 'Delete an issue with its events',
    permission: 'issues.admin',
    status: 204,
    params: issueParams,
    refusals: [404, 409],
  },
  listComments: {
    method: 'GET',
    path: '/api/issues/:issueId/comments',
    tag: 'Issues',
    summary: 'Comments of an issue, oldest first unless asked otherwise',
    permission: 'issues.read',
    params: issueParams,
    query: z.strictObject({
      ...pageQuery(25),
      sort: z.enum(COMMENT_SORTS, { error: `sort must be one of ${COMMENT_SORTS.join(', ')}.` }).default('created_at'),
    }),
    response: pageSchema(Comment),
    refusals: [404],
  },
  createComment: {
    method: 'POST',
    path: '/api/issues/:issueId/comments',
    tag: 'Issues',
    summary: 'Comment on an issue',
    description:
      'Members mentioned with @name or @e-mail are notified and subscribed to the issue. A name that several members have mentions none of them.',
    permission: 'issues.write',
    status: 201,
    params: issueParams,
    body: commentBody,
    response: Comment,
    refusals: [404],
  },
  updateComment: {
    method: 'PATCH',
    path: '/api/issues/:issueId/comments/:commentId',
    tag: 'Issues',
    summary: 'Edit a comment',
    description: 'Only its author. Members whom it mentions for the first time are notified.',
    permission: 'issues.write',
    params: z.object({ issueId: Id, commentId: Id }),
    body: commentBody,
    response: Comment,
    refusals: [404],
  },
  deleteComment: {
    method: 'DELETE',
    path: '/api/issues/:issueId/comments/:commentId',
    tag: 'Issues',
    summary: 'Delete a comment',
    description: 'Its author, admins and owners.',
    permission: 'issues.write',
    status: 204,
    params: z.object({ issueId: Id, commentId: Id }),
    refusals: [404],
  },
  listSimilar: {
    method: 'GET',
    path: '/api/issues/:issueId/similar',
    tag: 'Issues',
    summary: 'Issues of the same project that resemble an issue, the most similar first',
    description:
      'Compares error type, culprit and the words of the message with the 2,000 issues of the project that were seen last. Numbers and ids in messages do not count.',
    permission: 'issues.read',
    params: issueParams,
    query: z.strictObject({ limit: pageQuery(5).limit }),
    response: z.object({
      items: z.array(
        z.object({
          issue: Issue,
          score: Rate.describe('From 0.5 to 1.'),
          shared: z.array(z.enum(SIMILAR_PARTS)).describe('What both have in common.'),
        }),
      ),
    }),
    refusals: [404],
  },
  listProjectIssues: {
    method: 'GET',
    path: '/api/projects/:projectId/issues',
    tag: 'Projects',
    summary: 'Issues of one project',
    permission: 'issues.read',
    params: z.object({ projectId: Id }),
    query: z.strictObject(listQuery),
    response: foundIssues,
    refusals: [404],
  },
  suggestTerms: {
    method: 'GET',
    path: '/api/issues/suggestions',
    tag: 'Issues',
    summary: 'Suggestions while a query is typed: keys, and values of a key',
    description:
      'Without `key`: keys of the query language and tags, which begin with `prefix` or contain it. With `key`: its values that begin with `prefix`. Values of the data come from the newest issues, at most 500 with such a value (10,000 for status, level, severity and platform). Values that identify users of apps are never suggested.',
    permission: 'issues.read',
    query: z.strictObject({
      projectId: repeatable(Id),
      key: z.string().min(1).max(100).optional(),
      prefix: z
        .string()
        .max(200, { error: 'prefix must be at most 200 characters.' })
        .default('')
        .describe('What is typed so far.'),
      limit: pageQuery(10).limit,
    }),
    response: z.object({
      items: z.array(
        z.object({
          text: z.string().describe('As a query writes it; quoted if it needs quotes.'),
          count: z.number().int().nullable().describe('Number of issues; null if they are not counted.'),
          label: z
            .string()
            .nullable()
            .describe('What the text means or, if it is quoted, stands for; null when it says so itself.'),
        }),
      ),
      counted_issues: z.number().int().describe('Number of issues, the newest, of which the counts are.'),
      complete: z.boolean().describe('Whether these are all issues with such a value.'),
    }),
  },
  readVolume: {
    method: 'GET',
    path: '/api/issues/volume',
    tag: 'Issues',
    summary: 'Error events over time, for the chart above the list of issues',
    description:
      'With filters it sums the issues that match them now, and its buckets are quarters of an hour or longer; if more than 3,000 issues with events in the time match, `counts` is `projects`. Without filters it counts all events of the projects, also those of deleted issues. The time is that of the list with the same `range`, or `from` and `to`; 24 hours without them.',
    permission: 'issues.read',
    query: z.strictObject({ projectId: repeatable(Id), ...filterQuery, ...windowQuery }),
    response: z.object({
      range: z.string().nullable().describe('The requested one; null for `from` and `to`.'),
      from: Timestamp,
      to: Timestamp,
      interval_seconds: z.number().int(),
      points: z.array(
        z.object({
          t: Timestamp,
          events: z.number().int(),
          fatal: z.number().int().describe('Of these, fatal or unhandled.'),
        }),
      ),
      total: z.number().int(),
      previous_total: z.number().int().describe('Of the same length before.'),
      users: z
        .number()
        .int()
        .nullable()
        .describe(
          'Distinct users: a user of two issues counts once, a user of two projects in each, because projects share no identities. Exact up to 100,000 pairs of issue and user, or 100,000 events; beyond that, and where `counts` is `projects`, estimated, usually within 2 %. Null when no event names its user, when it is not known any more, and of matching issues in a time of the past with more than 100,000 events.',
        ),
      counts: z
        .enum(['matching', 'projects'])
        .describe('Whether the events are those of the matching issues, or all of the projects.'),
    }),
  },
})
