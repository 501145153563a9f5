import { ALERT_CHANNELS } from './alert-actions/alert-channels.ts'
import { canaryChannel } from './canary/canary-channel.ts'
import { mailChannel } from './mails/mail-channel.ts'
import { pushChannel } from './notifications/push-channel.ts'
import type { Channel } from './outbox/channel.ts'
import { webhookChannel } from './webhooks/webhook-channel.ts'

/** Everything that sends deliveries. */
export const CHANNELS: readonly Channel[] = [mailChannel, webhookChannel, pushChannel, ...ALERT_CHANNELS, canaryChannel]
