import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

const token = z
  .string({ error: 'token must be a string.' })
  .min(1, { error: 'token must not be empty.' })
  .max(200, { error: 'token must be that of the link.' })

const ChatUser = {
  team_name: z.string(),
  chat_user_name: z.string(),
}

export const ChatLink = z.object({
  id: Id,
  team_id: z.string().describe('As the chat platform names it.'),
  chat_user_id: z.string(),
  ...ChatUser,
  created_at: Timestamp,
})
z.globalRegistry.add(ChatLink, { id: 'ChatLink' })
export type ChatLink = z.infer<typeof ChatLink>

export const chatRoutes = routes({
  takeChatPress: {
    method: 'POST',
    path: '/api/integrations/chat/interactive',
    tag: 'Chat',
    summary: 'Take the press of a button in the chat',
    description:
      'Called by the chat platform. X-Chat-Signature is v0=<hex> of the HMAC-SHA256 of v0:<timestamp>:<body> with CHAT_SIGNING_SECRET, X-Chat-Request-Timestamp within 5 minutes; the names X-Slack-… and X-Chat-Timestamp are taken too. The body is a form with the field payload. 401 for a wrong signature, a wrong time, a request that was sent before, and when CHAT_SIGNING_SECRET is not set.',
    permission: 'public',
    rawBody: true,
    response: z.object({}),
    refusals: [401],
  },
  readChatLinkOffer: {
    method: 'POST',
    path: '/api/integrations/chat/links/preview',
    tag: 'Chat',
    summary: 'Whom a link of the chat would link to your account',
    permission: 'self',
    body: z.strictObject({ token }),
    response: z.object({ ...ChatUser, expires_at: Timestamp }),
  },
  confirmChatLink: {
    method: 'POST',
    path: '/api/integrations/chat/links',
    tag: 'Chat',
    summary: 'Link a user of the chat to your account',
    description:
      'The token of the link is valid for 10 minutes and once. 409 when the chat user is linked to another account.',
    permission: 'self',
    body: z.strictObject({ token }),
    response: ChatLink,
    refusals: [409],
  },
  listChatLinks: {
    method: 'GET',
    path: '/api/me/chat-links',
    tag: 'Chat',
    summary: 'Users of the chat that are linked to your account',
    permission: 'self',
    response: z.object({ items: z.array(ChatLink) }),
  },
  removeChatLink: {
    method: 'DELETE',
    path: '/api/me/chat-links/:linkId',
    tag: 'Chat',
    summary: 'Remove a linked user of the chat',
    permission: 'self',
    status: 204,
    params: z.object({ linkId: Id }),
    refusals: [404],
  },
})
