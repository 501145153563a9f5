import { ALERT_CHANNELS } from '../alerts/actions/alert-channels.ts'
import { canaryChannel } from './canary/canary-channel.ts'
import { mailChannel } from '../platform/mails/mail-channel.ts'
import { pushChannel } from '../alerts/notifications/push-channel.ts'
import type { Channel } from '../platform/outbox/channel.ts'
import { trackerChannel } from '../integrations/trackers/tracker-channel.ts'
import { webhookChannel } from '../integrations/webhooks/webhook-channel.ts'

/** Everything that sends deliveries. */
export const CHANNELS: readonly Channel[] = [
  mailChannel,
  webhookChannel,
  pushChannel,
  ...ALERT_CHANNELS,
  trackerChannel,
  canaryChannel,
]
