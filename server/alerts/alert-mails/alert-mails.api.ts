import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

const token = z.string({ error: 'token must be a string.' }).max(500, { error: 'token must be that of the link.' })

const MutedRule = z.object({
  id: Id,
  rule: z.object({ id: Id, name: z.string() }),
  project: z.object({ name: z.string() }),
  created_at: Timestamp,
})
export type MutedRule = z.infer<typeof MutedRule>

const oneClickQuery = z.looseObject({ token: z.unknown().optional().describe('Of the link.') })

export const alertMailRoutes = routes({
  unsubscribeMails: {
    method: 'POST',
    path: '/api/notifications/unsubscribe',
    tag: 'Notifications',
    summary: 'End mails about alerts, with the link of a mail',
    description: 'A second time changes nothing. none restores what the same link ended.',
    permission: 'public',
    csrf: true,
    body: z.strictObject({
      token,
      scope: z
        .enum(['rule', 'all', 'none'], { error: 'scope must be one of rule, all, none.' })
        .describe('The rule that sent the mail; every rule of its organisation; or none: mails are sent again.'),
    }),
    response: z.object({
      scope: z.enum(['rule', 'all', 'none']),
      rule_name: z.string().nullable().describe('Null when the rule was deleted.'),
    }),
  },
  unsubscribeOneClick: {
    method: 'POST',
    path: '/api/notifications/unsubscribe/one-click',
    tag: 'Notifications',
    summary: 'End mails of a rule as mail programs do it (RFC 8058)',
    description: 'The address of the header List-Unsubscribe. The body is List-Unsubscribe=One-Click, as a form.',
    permission: 'public',
    rawBody: true,
    query: oneClickQuery,
    response: z.object({ scope: z.literal('rule') }),
  },
  openUnsubscribe: {
    method: 'GET',
    path: '/api/notifications/unsubscribe/one-click',
    tag: 'Notifications',
    summary: 'Go to the page that ends mails, as mail programs without one click do',
    permission: 'public',
    stream: 'redirect',
    query: oneClickQuery,
  },
  listMutedRules: {
    method: 'GET',
    path: '/api/me/muted-alert-rules',
    tag: 'Notifications',
    summary: 'Alert rules of this organisation whose mails you ended',
    permission: 'self',
    response: z.object({ items: z.array(MutedRule).describe('By name; at most 100, so there is no total.') }),
  },
  deleteMutedRule: {
    method: 'DELETE',
    path: '/api/me/muted-alert-rules/:muteId',
    tag: 'Notifications',
    summary: 'Receive the mails of an alert rule again',
    permission: 'self',
    status: 204,
    params: z.object({ muteId: Id }),
    refusals: [404],
  },
})
