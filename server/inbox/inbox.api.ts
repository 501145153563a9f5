import { z } from 'zod'
import { routes } from '../kernel/contract.ts'
import { Id, pageOf, pageQuery, Timestamp } from '../kernel/page.api.ts'
import { IssueStatus, Person, Severity } from '../issue-rules/issue.api.ts'

export const SUBSCRIPTION_REASONS = ['manual', 'assigned', 'mentioned', 'commented', 'changed'] as const

export const Subscription = z.object({
  issue_id: Id,
  subscribed: z.boolean(),
  reason: z
    .enum(SUBSCRIPTION_REASONS)
    .nullable()
    .describe('What subscribed them first; null while they are not. changed: they changed its status.'),
  changed_at: Timestamp.nullable().describe('Since when it is so; null for who never was subscribed.'),
})
export type Subscription = z.infer<typeof Subscription>

export const INBOX_KINDS = ['assigned', 'mentioned', 'commented', 'regressed', 'escalated', 'reopened'] as const

export const InboxEntry = z.object({
  id: Id,
  kind: z.enum(INBOX_KINDS),
  sentence: z.string(),
  actor: Person.nullable().describe('Null for the service itself, and for people who left.'),
  issue: z.object({
    id: Id,
    short_id: z.string(),
    project_id: Id,
    title: z.string(),
    status: IssueStatus,
    severity: Severity,
  }),
  comment_id: Id.nullable(),
  created_at: Timestamp,
  read_at: Timestamp.nullable(),
})
export type InboxEntry = z.infer<typeof InboxEntry>

const unreadCount = z.number().int().describe('Unread entries, at most 1,000 are counted.')

const issueParams = z.object({ issueId: Id })

export const inboxRoutes = routes({
  readSubscription: {
    method: 'GET',
    path: '/api/issues/:issueId/subscription',
    tag: 'Issues',
    summary: 'Whether the caller follows an issue, and why',
    permission: 'self',
    params: issueParams,
    response: Subscription,
    refusals: [404],
  },
  subscribe: {
    method: 'PUT',
    path: '/api/issues/:issueId/subscription',
    tag: 'Issues',
    summary: 'Follow an issue',
    description: 'News of it come to the inbox: comments, and that it came back, escalated or is no longer ignored.',
    permission: 'self',
    params: issueParams,
    response: Subscription,
    refusals: [404],
  },
  unsubscribe: {
    method: 'DELETE',
    path: '/api/issues/:issueId/subscription',
    tag: 'Issues',
    summary: 'Stop following an issue',
    description: 'It stays so whatever happens next. Being mentioned, or assigned to it, still comes to the inbox.',
    permission: 'self',
    status: 204,
    params: issueParams,
    refusals: [404],
  },
  listInbox: {
    method: 'GET',
    path: '/api/inbox',
    tag: 'Inbox',
    summary: "The caller's news: unread first, then newest first",
    description: 'Entries are kept for 90 days.',
    permission: 'self',
    query: z.strictObject({
      ...pageQuery(),
      unread: z
        .enum(['true', 'false'], { error: 'unread must be true or false.' })
        .default('false')
        .describe('true: only entries that were not read yet.'),
    }),
    response: pageOf(InboxEntry).extend({ unread_count: unreadCount }),
  },
  markInboxRead: {
    method: 'POST',
    path: '/api/inbox/read',
    tag: 'Inbox',
    summary: 'Mark news as read',
    description: 'Those named, or all up to a time. What is read already, or gone, is passed over.',
    permission: 'self',
    body: z
      .strictObject({
        ids: z
          .array(Id)
          .min(1, { error: 'ids must hold at least one id.' })
          .max(500, { error: 'ids takes at most 500 ids.' })
          .optional(),
        before: z.iso
          .datetime({ offset: true, error: 'before must be an RFC 3339 time.' })
          .optional()
          .describe('Everything made at this time or earlier.'),
      })
      .refine((body) => (body.ids === undefined) !== (body.before === undefined), {
        error: 'Send either ids or before.',
      }),
    response: z.object({
      read: z.number().int().describe('Entries that were unread until now.'),
      unread_count: unreadCount,
    }),
  },
})
