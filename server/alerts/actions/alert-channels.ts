import type { Channel } from '../../platform/outbox/channel.ts'
import { ATTEMPT_TIMEOUT_MS, DELAYS_MS } from '../../platform/requests/schedule.ts'
import { prepareAlerts } from './prepare-alerts.ts'
import { SENT_TYPES, type SentType } from './send-alert.ts'
import { settleAlerts } from './settle-alerts.ts'

/** Sends alerts to what an action names; the lane of an action has its id. Attempts are those of signed webhooks. */
const channelOf = (type: SentType): Channel => ({
  name: `alert_${type}`,
  delaysMs: DELAYS_MS,
  // The request has a clock of its own, which starts with it.
  timeoutMs: ATTEMPT_TIMEOUT_MS + 2_000,
  prepare: (app, batch) => prepareAlerts(app, type, batch),
  settled: settleAlerts,
})

export const ALERT_CHANNELS: readonly Channel[] = SENT_TYPES.map(channelOf)
