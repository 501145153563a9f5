import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'
import { IssueStatus, Person, Severity } from '../rules/issue.api.ts'

export const SUBSCRIPTION_REASONS = ['manual', 'assigned', 'mentioned', 'commented', 'changed'] as const

export const Subscription = z.object({
  issue_id: Id,
  subscribed: z.boolean(),
  reason: z
    .enum(SUBSCRIPTION_REASONS)
    .nullable()
    .describe('What subscribed the caller; null while not subscribed. changed: the caller changed its status.'),
  changed_at: Timestamp.nullable().describe('When this changed last; null when the caller was never subscribed.'),
})
export type Subscription = z.infer<typeof Subscription>

export const INBOX_KINDS = ['assigned', 'mentioned', 'commented', 'regressed', 'escalated', 'reopened'] as const

export const InboxEntry = z.object({
  id: Id,
  kind: z.enum(INBOX_KINDS),
  sentence: z.string(),
  actor: Person.nullable().describe('Null for Faultline itself and for deleted users.'),
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
    description: 'The caller is notified of its comments, and when it regresses, escalates or is no longer ignored.',
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
    description: 'The caller is not subscribed again automatically. Mentions and assignments still reach the inbox.',
    permission: 'self',
    status: 204,
    params: issueParams,
    refusals: [404],
  },
  listInbox: {
    method: 'GET',
    path: '/api/inbox',
    tag: 'Inbox',
    summary: "The caller's notifications: unread first, then newest first",
    description: 'Entries are kept for 90 days.',
    permission: 'self',
    query: z.strictObject({
      ...pageQuery(),
      unread: z
        .enum(['true', 'false'], { error: 'unread must be true or false.' })
        .default('false')
        .describe('true: only unread entries.'),
    }),
    response: pageSchema(InboxEntry).extend({ unread_count: unreadCount }),
  },
  markInboxRead: {
    method: 'POST',
    path: '/api/inbox/read',
    tag: 'Inbox',
    summary: 'Mark notifications as read',
    description: 'By ids, or all up to a time. Entries that are already read or deleted are ignored.',
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
          .describe('All entries created at this time or earlier.'),
      })
      .refine((body) => (body.ids === undefined) !== (body.before === undefined), {
        error: 'Send either ids or before.',
      }),
    response: z.object({
      read: z.number().int().describe('Number of entries that were unread.'),
      unread_count: unreadCount,
    }),
  },
})
