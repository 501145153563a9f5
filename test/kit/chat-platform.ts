import { createHmac, randomUUID } from 'node:crypto'
import { buttonActionId, type ChatButton } from '#server/alerts/actions/chat-buttons.ts'

/** The chat platform as it calls us: its payloads and signatures. */

export const CHAT_SECRET = 'a signing secret of the chat'
export const CHAT_TEAM = { id: 'T0001', domain: 'acme' }

/** The payload that the platform sends for a press of a button; each is another press. */
export const payloadOf = (
  button: ChatButton,
  alertId: string,
  chatUserId: string,
  responseUrl?: string,
): Record<string, unknown> => ({
  type: 'block_actions',
  team: CHAT_TEAM,
  user: { id: chatUserId, username: 'ada', name: 'ada', team_id: CHAT_TEAM.id },
  api_app_id: 'A0001',
  container: { type: 'message', message_ts: '1548261231.000200', channel_id: 'C0001' },
  trigger_id: `${randomUUID()}.1`,
  channel: { id: 'C0001', name: 'alerts' },
  ...(responseUrl === undefined ? {} : { response_url: responseUrl }),
  actions: [
    {
      type: 'button',
      block_id: 'alert_buttons',
      action_id: buttonActionId(button),
      value: alertId,
      action_ts: '1548426417.840180',
    },
  ],
})

export const formOf = (payload: unknown): string => `payload=${encodeURIComponent(JSON.stringify(payload))}`

/** Header names of the specification, and those of Slack. */
export const NAMES = {
  chat: ['x-chat-signature', 'x-chat-request-timestamp'],
  slack: ['x-slack-signature', 'x-slack-request-timestamp'],
  mixed: ['x-chat-signature', 'x-chat-timestamp'],
} as const

export type SentRequest = { readonly headers: Record<string, string>; readonly body: string }

type Signing = { readonly secret?: string; readonly names?: keyof typeof NAMES; readonly type?: string }

/** A request as the platform signs it. */
export function signedRequest(
  body: string,
  at: Date,
  { secret = CHAT_SECRET, names = 'chat', type = 'application/x-www-form-urlencoded' }: Signing = {},
): SentRequest {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const hex = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')
  const [signature, time] = NAMES[names]
  return { headers: { 'content-type': type, [signature]: `v0=${hex}`, [time]: timestamp }, body }
}
