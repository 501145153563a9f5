import { z } from 'zod'
import type { ActionType } from '#shared/alert-rules.ts'
import type { Opener, Sealer } from '../../platform/storage/seal.ts'
import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'

/** The configuration that an action needs to send, sealed at rest, and the part of it that may be shown. */

/** The sealed part, by type; email has none. */
export const ActionConfig = z.object({
  webhook_url: z.string().optional(),
  secret: z.string().optional(),
  routing_key: z.string().optional(),
  bot_token: z.string().optional(),
  chat_id: z.string().optional(),
  access_token: z.string().optional(),
})
export type ActionConfig = z.infer<typeof ActionConfig>

export const Masked = z.object({
  webhook_url: z.string().optional(),
  routing_key: z.string().optional(),
  bot_token: z.string().optional(),
  chat_id: z.string().optional(),
  access_token: z.string().optional(),
  secret_prefix: z.string().optional(),
})
export type Masked = z.infer<typeof Masked>

/** Of 49 characters; one that a member chose may be shorter, and only a quarter of it is shown. */
const SECRET_PREFIX_CHARACTERS = 12
const SHOWN_END = 4

export function maskConfig(config: ActionConfig): Masked {
  const { webhook_url: url, routing_key: key, secret, bot_token: bot, chat_id: chat, access_token: access } = config
  return {
    ...(bot === undefined ? {} : { bot_token: `${bot.slice(0, bot.indexOf(':'))}:…` }),
    ...(chat === undefined ? {} : { chat_id: chat }),
    ...(access === undefined ? {} : { access_token: `…${access.slice(-Math.min(SHOWN_END, access.length >> 2))}` }),
    ...(url === undefined ? {} : { webhook_url: maskUrl(url) }),
    ...(key === undefined ? {} : { routing_key: `…${key.slice(-SHOWN_END)}` }),
    ...(secret === undefined
      ? {}
      : { secret_prefix: secret.slice(0, Math.min(SECRET_PREFIX_CHARACTERS, secret.length >> 2)) }),
  }
}

/** The path of a chat's URL is its secret: only the host and the last characters of long ones are shown. */
function maskUrl(text: string): string {
  const { protocol, host, pathname, search } = new URL(text)
  const rest = pathname + search
  if (rest === '/') return `${protocol}//${host}/`
  return `${protocol}//${host}/…${rest.length > 4 * SHOWN_END ? rest.slice(-SHOWN_END) : ''}`
}

/** The target of an action without its secrets, such as a host. */
export const describeActionTarget = (type: ActionType, masked: Masked, recipients: unknown): string => {
  if (type === 'email') return Array.isArray(recipients) ? `${recipients.length} addresses` : String(recipients)
  return masked.webhook_url ?? masked.routing_key ?? masked.chat_id ?? ''
}

const configPlace = (orgId: string, actionId: string): string => `alert_actions:config_sealed:${actionId}:${orgId}`

export const ALERT_ACTIONS: OrgSealedColumn = {
  table: 'alert_actions',
  column: 'config_sealed',
  keys: ['id'],
  placeOf: (orgId, actionId = '') => configPlace(orgId, actionId),
}

export const sealConfig = (sealer: Sealer, orgId: string, actionId: string, config: ActionConfig): string =>
  sealer.seal(Buffer.from(JSON.stringify(config)), configPlace(orgId, actionId))

/** @throws Error when it cannot be opened */
export const openConfig = (opener: Opener, orgId: string, actionId: string, sealed: string): ActionConfig =>
  ActionConfig.parse(JSON.parse(opener.open(sealed, configPlace(orgId, actionId)).toString()))
