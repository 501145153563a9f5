import { isDeepStrictEqual } from 'node:util'
import type { ActionType } from '#shared/alert-rules.ts'
import { orgSealer } from '../../identity/auth/org-sealer.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { closeLane } from '../../platform/outbox/close-lane.ts'
import { openLane } from '../../platform/outbox/change-lane.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { newSecret } from '../../platform/requests/signing-secret.ts'
import { type ActionConfig, maskConfig, Masked, openConfig, sealConfig } from './action-config.ts'
import type { ActionInput } from './rule.api.ts'
import { type ActionRow, changeAction, deleteActions, insertActions } from './rules.queries.ts'

/** Secrets that were made now, by the id of their action: shown once. */
export type MadeSecrets = ReadonlyMap<string, string>

type Saving = {
  readonly orgId: string
  readonly ruleId: string
  readonly isEscalation: boolean
  /** Name of the list in errors. */
  readonly field: 'actions' | 'escalation_actions'
}

/** The lane of an action, whose messages go one after the other. */
const laneOf = (id: string, orgId: string, type: ActionType) => ({
  id,
  orgId,
  channel: `alert_${type}`,
  maxInFlight: 1,
})

/**
 * Replaces a list of actions. One with the id of a stored one keeps what is not given of it; stored ones that are not
 * given are removed, and what waits for them ends.
 * @throws AppError invalid (URL, missing values, an id that the rule does not have)
 */
export async function saveActions(
  tx: Tx,
  app: App,
  { orgId, ruleId, isEscalation, field }: Saving,
  stored: readonly ActionRow[],
  given: readonly ActionInput[],
): Promise<MadeSecrets> {
  const secrets = new Map<string, string>()
  const sealer = await orgSealer(app, orgId, tx)
  const kept = new Set<string>()
  for (const [position, action] of given.entries()) {
    const at = `${field}[${position}]`
    const before = action.id === undefined ? undefined : stored.find(({ id }) => id === action.id)
    if (action.id !== undefined && (before === undefined || before.type !== action.type || kept.has(action.id)))
      throw invalid(`${at}.id is not the id of another ${action.type} action of this rule. Leave it out to add one.`)
    const id = before?.id ?? newId()
    kept.add(id)
    if (action.type === 'email') {
      const to = action.to ?? before?.recipients
      if (to === undefined || to === null) throw invalid(`${at}.to is missing: team, assignee, or email addresses.`)
      const recipients = JSON.stringify(Array.isArray(to) ? [...new Set(to)] : to)
      if (before === undefined)
        await insertActions(tx, [row(id, { orgId, ruleId, isEscalation, position }, 'email', { recipients })])
      else await changeAction(tx, id, { recipients, position })
      continue
    }
    const old = before?.config_sealed == null ? {} : openConfig(sealer, orgId, id, before.config_sealed)
    const config = buildActionConfig(app, at, action, old, before === undefined ? {} : Masked.parse(before.masked))
    if (
      action.type === 'webhook' &&
      config.secret !== undefined &&
      config.secret !== old.secret &&
      action.secret === undefined
    )
      secrets.set(id, config.secret)
    const sealed = {
      config_sealed: sealConfig(sealer, orgId, id, config),
      masked: JSON.stringify(maskConfig(config)),
    }
    if (before === undefined) {
      await openLane(tx, laneOf(id, orgId, action.type))
      await insertActions(tx, [row(id, { orgId, ruleId, isEscalation, position }, action.type, sealed)])
    } else
      await changeAction(tx, id, {
        position,
        // Another address has not answered yet.
        ...(isDeepStrictEqual(config, old)
          ? {}
          : { ...sealed, last_status: null, last_attempt_at: null, last_ok: null }),
      })
  }
  await removeActions(
    tx,
    stored.filter(({ id }) => !kept.has(id)),
  )
  return secrets
}

/** Deliveries that wait for removed actions end as failed, with the reason. */
export async function removeActions(tx: Tx, actions: readonly ActionRow[]): Promise<void> {
  if (actions.length === 0) return
  for (const { id, type } of actions) if (type !== 'email') await closeLane(tx, id, 'action_removed')
  await deleteActions(
    tx,
    actions.map(({ id }) => id),
  )
}

const row = (
  id: string,
  of: { orgId: string; ruleId: string; isEscalation: boolean; position: number },
  type: string,
  rest: { recipients?: string; config_sealed?: string; masked?: string },
) => ({
  id,
  rule_id: of.ruleId,
  org_id: of.orgId,
  position: of.position,
  is_escalation: of.isEscalation,
  type,
  ...rest,
})

/** The configuration that the action needs to send: the given one, or the one before. @throws AppError invalid */
export function buildActionConfig(
  app: App,
  at: string,
  action: Exclude<ActionInput, { type: 'email' }>,
  old: ActionConfig,
  masked: Masked,
): ActionConfig {
  if (action.type === 'pager') {
    const key = action.routing_key ?? old.routing_key
    if (key === undefined) throw invalid(`${at}.routing_key is missing: the integration key of the pager.`)
    return { routing_key: key }
  }
  if (action.type === 'telegram') {
    const token = action.bot_token ?? old.bot_token
    const chat = action.chat_id ?? old.chat_id
    if (token === undefined) throw invalid(`${at}.bot_token is missing: the token that BotFather gave.`)
    if (chat === undefined) throw invalid(`${at}.chat_id is missing: the number of the chat.`)
    return { bot_token: token, chat_id: chat }
  }
  // Who reads a rule sees the mask, and may send it back.
  const given = action.webhook_url === masked.webhook_url ? undefined : action.webhook_url
  const url = given ?? old.webhook_url
  if (url === undefined) throw invalid(`${at}.webhook_url is missing.`)
  if (given !== undefined) app.egress.checkUrl(given)
  if (action.type === 'ntfy') return topicConfig(at, url, action.access_token, old)
  if (action.type !== 'webhook') return { webhook_url: url }
  // A secret belongs to its address: another address does not get it.
  const isMoved = old.webhook_url !== undefined && new URL(old.webhook_url).origin !== new URL(url).origin
  return { webhook_url: url, secret: action.secret ?? (isMoved ? undefined : old.secret) ?? newSecret() }
}

/** A token belongs to its server: another one does not get it. @throws AppError invalid */
function topicConfig(at: string, url: string, given: string | undefined, old: ActionConfig): ActionConfig {
  if (!/\/[A-Za-z0-9_-]{1,64}\/?$/.test(new URL(url).pathname))
    throw invalid(`${at}.webhook_url must end with the topic, such as https://ntfy.sh/shop-alerts.`)
  const isMoved = old.webhook_url !== undefined && new URL(old.webhook_url).origin !== new URL(url).origin
  const token = given ?? (isMoved ? undefined : old.access_token)
  return { webhook_url: url, ...(token === undefined || token === '' ? {} : { access_token: token }) }
}
