import { z } from 'zod'
import { Attachment } from '../../events/attachments/attachments.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'
import { FEEDBACK_STATUSES, FEEDBACK_VIEWS } from '#shared/feedback.ts'
import { MAX_COMMENT_CHARACTERS } from '#shared/limits.ts'
import { Issue, Person } from '../rules/issue.api.ts'

const FeedbackStatus = z.enum(FEEDBACK_STATUSES, { error: `status must be one of ${FEEDBACK_STATUSES.join(', ')}.` })
export type FeedbackStatus = z.infer<typeof FeedbackStatus>

export const Feedback = z.object({
  id: Id,
  project_id: Id,
  message: z.string().describe("The user's text, at most 4,096 characters."),
  name: z.string().nullable(),
  email: z.string().nullable(),
  url: z.string().nullable().describe('The page or screen where it was written; null when the message does not say.'),
  source: z
    .string()
    .nullable()
    .describe('The form it was sent with, such as widget or crash_report_modal; null when the message does not say.'),
  replay_id: z.string().nullable(),
  release: z.string().nullable(),
  environment: z.string().nullable(),
  event_id: z
    .string()
    .nullable()
    .describe('The event it refers to, which may arrive later or never; null when it refers to none.'),
  issue_id: Id.nullable().describe('The issue of that event; null until the event has arrived.'),
  status: FeedbackStatus,
  attachments: z.array(Attachment).describe('Files sent with it, such as a screenshot.'),
  received_at: Timestamp,
})
export type Feedback = z.infer<typeof Feedback>

export const InboxMessage = Feedback.extend({
  is_read: z.boolean().describe('Whether a member has opened it.'),
  assignee: Person.nullable(),
  issue: z.object({ id: Id, short_id: z.string(), title: z.string() }).nullable(),
  reply_count: z.number().int(),
})
export type InboxMessage = z.infer<typeof InboxMessage>

const text = z.string().nullable()
export const MessageContext = z.object({
  browser: text,
  os: text,
  device: text,
  language: text,
  view: text.describe('The screen, page or transaction; null when unknown.'),
  user: text,
  trace_id: text,
})
export type MessageContext = z.infer<typeof MessageContext>

const FeedbackActivity = z.object({
  id: Id,
  kind: z
    .enum(['status_changed', 'assigned', 'note', 'reply', 'notified', 'not_notified'])
    .describe(
      'notified: the author was notified by mail that the issue is resolved. not_notified: a limit of mails kept that from them.',
    ),
  actor: Person.nullable().describe('Null for Faultline itself.'),
  body: text.describe('The text of a note or a reply, plain; null for other kinds.'),
  from: text.describe(
    'The status or the name of the assignee before; null for other kinds, and when no member was assigned.',
  ),
  to: text.describe(
    'The status or the name of the assignee after; of a mail, its address. Null for other kinds, and when no member is assigned.',
  ),
  reason: text.describe('Why the author was not notified; null unless the kind is not_notified.'),
  created_at: Timestamp,
})
export type FeedbackActivity = z.infer<typeof FeedbackActivity>

export const FeedbackDetail = InboxMessage.extend({
  context: MessageContext.describe('From the message, and what it lacks from the event it refers to.'),
  kept_trace_id: text.describe('Its trace; null when its spans are not kept.'),
  linked: z
    .object({
      issue: Issue,
      reason: z.enum(['event']).describe('event: the message names an event of the issue.'),
      event_at: Timestamp.nullable().describe('When that event happened; null when it is no longer stored.'),
      others: z.number().int().describe('Other messages about the issue of the last 7 days without spam, up to 1,000.'),
    })
    .nullable(),
  reply_to: text.describe('The address that a reply is sent to; null when the author left none.'),
  reply_problem: z
    .enum(['no_address', 'bad_address'])
    .nullable()
    .describe('Why a reply cannot be sent; null when it can.'),
  last_reply_id: Id.nullable().describe('To be sent with a reply; null before the first.'),
  notify_on_resolved: z.boolean().describe('The author gets one mail when the issue is resolved.'),
  notified_at: Timestamp.nullable().describe('When the author got that mail; null until then.'),
  activity: z.array(FeedbackActivity).describe('Oldest first: the newest 200 entries.'),
})
export type FeedbackDetail = z.infer<typeof FeedbackDetail>

const oneMessage = z.object({ feedbackId: Id })
const bodyText = z
  .string({ error: 'body must be a text.' })
  .refine((body) => body.trim() !== '', { error: 'body must not be empty.' })
  .max(MAX_COMMENT_CHARACTERS, { error: 'body must be at most 10,000 characters.' })
const flag = (name: string) => z.boolean({ error: `${name} must be true or false.` }).optional()

const COUNT = 'Up to 1,000.'

export const feedbackRoutes = routes({
  listFeedback: {
    method: 'GET',
    path: '/api/projects/:projectId/feedback',
    tag: 'Projects',
    summary: "Feedback of the app's users",
    description: 'Feedback items and the older user reports, newest first unless sorted otherwise.',
    permission: 'issues.read',
    params: z.object({ projectId: Id }),
    query: z.strictObject({
      ...pageQuery(25),
      sort: z
        .enum(['received_at', '-received_at'], {
          error: 'sort must be received_at, with a leading - for descending.',
        })
        .default('-received_at'),
      issue_id: Id.optional(),
      linked: z
        .enum(['true', 'false'], { error: 'linked must be true or false.' })
        .optional()
        .describe('Only feedback with a known issue, or only without one.'),
      release: z.string().min(1).max(250).optional(),
      environment: z.string().min(1).max(64).optional(),
    }),
    response: pageSchema(Feedback),
    refusals: [404],
  },
  listInboxMessages: {
    method: 'GET',
    path: '/api/feedback',
    tag: 'Issues',
    summary: 'The inbox of feedback: messages of all projects or of one, newest first',
    description:
      'A view is a status of messages: inbox (open), mine (open and assigned to the caller), resolved, spam; `all` has open and resolved ones. The first 8 words of `query` must all occur in message, name, e-mail address, address of the page, or release; the newest 10,000 messages of the view are searched.',
    permission: 'issues.read',
    query: z.strictObject({
      ...pageQuery(25),
      projectId: Id.optional(),
      issueId: Id.optional().describe('Only messages about this issue.'),
      view: z.enum(FEEDBACK_VIEWS, { error: `view must be one of ${FEEDBACK_VIEWS.join(', ')}.` }).default('inbox'),
      query: z.string().max(200, { error: 'query must be at most 200 characters.' }).default(''),
    }),
    response: pageSchema(InboxMessage).extend({
      search_is_partial: z.boolean().describe('The view has more messages than are searched.'),
      counts: z.object({
        inbox: z.number().int().describe(COUNT),
        unread: z.number().int().describe(`Of the inbox. ${COUNT}`),
        mine: z.number().int().describe(COUNT),
        spam: z.number().int().describe(COUNT),
      }),
    }),
    refusals: [404],
  },
  readFeedback: {
    method: 'GET',
    path: '/api/feedback/:feedbackId',
    tag: 'Issues',
    summary: 'A message with its context, its issue and what members did about it',
    permission: 'issues.read',
    params: oneMessage,
    response: FeedbackDetail,
    refusals: [404],
  },
  updateFeedback: {
    method: 'PATCH',
    path: '/api/feedback/:feedbackId',
    tag: 'Issues',
    summary: 'Assign, resolve or reopen a message, mark it as spam or as read',
    description:
      'Absent fields do not change; `assignee_id: null` removes the assignee. `notify_on_resolved: true` needs an address of the author and an issue that is not resolved. A request that changes nothing returns 200.',
    permission: 'issues.write',
    params: oneMessage,
    body: z
      .strictObject({
        status: FeedbackStatus.optional(),
        assignee_id: Id.nullable().optional(),
        is_read: flag('is_read'),
        notify_on_resolved: flag('notify_on_resolved'),
      })
      .refine((body) => Object.values(body).some((value) => value !== undefined), {
        error: 'Send at least one of status, assignee_id, is_read, notify_on_resolved.',
      }),
    response: FeedbackDetail,
    refusals: [404, 409],
  },
  addFeedbackNote: {
    method: 'POST',
    path: '/api/feedback/:feedbackId/notes',
    tag: 'Issues',
    summary: 'Write a note for the team',
    description: 'The author of the message does not see it.',
    permission: 'issues.write',
    status: 201,
    params: oneMessage,
    body: z.strictObject({ body: bodyText }),
    response: FeedbackDetail,
    refusals: [404, 409],
  },
  replyToFeedback: {
    method: 'POST',
    path: '/api/feedback/:feedbackId/replies',
    tag: 'Issues',
    summary: 'Answer the author of a message by mail',
    description:
      'One mail to the address that the author left. `to` repeats that address, so that no mail goes to an address that the caller did not see; `last_reply_id` is the newest reply that the caller has read: 409 when there is a newer one. Bounds per message and the bounds of mails to addresses of no member apply (429).',
    permission: 'issues.write',
    status: 201,
    params: oneMessage,
    body: z.strictObject({
      body: bodyText,
      to: z.string({ error: 'to must be the address as reply_to names it.' }).max(320),
      last_reply_id: Id.nullable(),
      notify_on_resolved: flag('notify_on_resolved'),
    }),
    response: FeedbackDetail,
    refusals: [404, 409],
  },
})
