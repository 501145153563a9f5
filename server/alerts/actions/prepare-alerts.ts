import type { App } from '../../platform/context/app.ts'
import { type ActionConfig, openConfig } from '../rules/action-config.ts'
import type { AlertMessage } from '../rules/alert-message.ts'
import { type AttemptResult, type ClaimedDelivery, NotSentError, type Send } from '../../platform/outbox/channel.ts'
import type { Opener } from '../../platform/storage/seal.ts'
import { lenientOpener } from '../../identity/auth/lenient-sealer.ts'
import { type NowRow, selectNow, selectSending, type SendingRow } from './actions.queries.ts'
import { readMessage } from './read-message.ts'
import { sendAlert, type SentType, UNREADABLE } from './send-alert.ts'

/** `errorCode` of an attempt that was not made because it would no longer be true. */
export const OUTDATED = 'outdated'

/** Reads actions and alerts of a batch with one query each, and one for the keys of each organisation. */
export async function prepareAlerts(app: App, type: SentType, batch: readonly ClaimedDelivery[]): Promise<Send> {
  const messages = new Map(batch.map(({ messageId, body }) => [messageId, readMessage(body)]))
  const rows = await selectSending(app.db, [...new Set(batch.map(({ laneId }) => laneId))])
  const openers = new Map<string, Opener>()
  for (const orgId of new Set(rows.map((row) => row.org_id))) openers.set(orgId, await lenientOpener(app, orgId))
  const configs = new Map(rows.map((row) => [row.id, configOf(app, openers.get(row.org_id), row)]))
  const sendings = batch.flatMap(({ laneId, messageId }) => {
    const alert = messages.get(messageId)?.data.alert
    return alert === undefined || alert.is_test ? [] : [{ alertId: alert.id, actionId: laneId }]
  })
  const now = new Map((await selectNow(app.db, sendings)).map((row) => [`${row.alert_id}/${row.action_id}`, row]))
  return (delivery, signal) => {
    const { laneId, messageId, body, id } = delivery
    const config = configs.get(laneId)
    // Its lane is closed: a worker ends the delivery with the reason of the lane.
    if (config === undefined) return Promise.reject(new NotSentError('The action was removed.'))
    const message = messages.get(messageId)
    if (config === null || message === undefined || message === null) return Promise.resolve(UNREADABLE)
    const row = now.get(`${message.data.alert.id}/${laneId}`)
    const why = row === undefined ? null : outdatedBecause(type, message, row)
    if (why !== null) return Promise.resolve(outdated(why))
    const sending = {
      type,
      config,
      message: row === undefined ? message : withNow(message, row),
      subject: row?.subject ?? '',
      body,
      deliveryId: id,
      group: laneId,
    }
    const attempt = sendAlert(app, sending, signal)
    return message.data.alert.is_test ? attempt.then(asTest) : attempt
  }
}

/** Null when it cannot be opened. Other actions of the batch must not wait for it. */
function configOf(app: App, opener: Opener | undefined, row: SendingRow): ActionConfig | null {
  if (opener === undefined || row.config_sealed === null) return null
  try {
    return openConfig(opener, row.org_id, row.id, row.config_sealed)
  } catch (error) {
    app.log.error({ err: error, action_id: row.id }, 'the address or key of an alert action cannot be opened')
    return null
  }
}

/**
 * Why a message that waited must not be sent any more: a page about what has ended, or what would end a newer page under
 * the same key. Null when it is to be sent. A webhook gets everything.
 */
function outdatedBecause(type: SentType, { type: kind }: AlertMessage, now: NowRow): string | null {
  if (type === 'webhook') return null
  const isEnded = now.state === 'resolved' || now.state === 'expired'
  if (kind === 'alert.acknowledged' && isEnded) return `The alert was ${now.state} before this could be sent.`
  if (type !== 'pager') return null
  if (kind === 'alert.fired') return now.is_firing ? null : `The alert was ${now.state} before the page could be sent.`
  return now.is_replaced ? 'A newer alert about the same was paged before this could be sent.' : null
}

/** A test is attempted once: who sent it sees the answer. */
const asTest = (result: AttemptResult): AttemptResult =>
  result.outcome === 'failed' ? { ...result, isFinal: true } : result

const outdated = (errorText: string): AttemptResult => ({
  outcome: 'failed',
  status: null,
  errorCode: OUTDATED,
  errorText,
  durationMs: 0,
  isFinal: true,
  details: {},
})

/** The message with the state that the alert has now. */
const withNow = (message: AlertMessage, now: NowRow): AlertMessage => ({
  ...message,
  data: {
    ...message.data,
    alert: {
      ...message.data.alert,
      state: now.state,
      acknowledged_by:
        now.acknowledged_by === null || now.acknowledger === null
          ? null
          : { id: now.acknowledged_by, name: now.acknowledger },
      acknowledged_at: now.acknowledged_at?.toISOString() ?? null,
      resolved_at: now.resolved_at?.toISOString() ?? null,
      resolved_reason: now.resolved_reason,
    },
  },
})
