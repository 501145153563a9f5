import type { Channel } from '../../platform/outbox/channel.ts'
import { prepareWebhooks } from './prepare-webhooks.ts'
import { ATTEMPT_TIMEOUT_MS, DELAYS_MS } from '../../platform/requests/schedule.ts'
import { settleWebhooks } from './settle-webhooks.ts'

/** Sends signed events to endpoints; the lane of an endpoint has its id. */
export const webhookChannel: Channel = {
  name: 'webhook',
  delaysMs: DELAYS_MS,
  // The request has a clock of its own, which starts with it: this one ends what would overrun it.
  timeoutMs: ATTEMPT_TIMEOUT_MS + 2_000,
  prepare: prepareWebhooks,
  settled: settleWebhooks,
  live: (laneIds) => ({ kind: 'webhooks', endpoint_ids: [...laneIds] }),
}
