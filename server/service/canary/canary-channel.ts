import { AlertMessage } from '../../alerts/rules/alert-message.ts'
import type { Channel, ClaimedDelivery } from '../../platform/outbox/channel.ts'
import { markArrived } from './canary.queries.ts'
import { runIdIn } from './test-event.ts'

export const CANARY_CHANNEL = 'alert_canary'

/** Where alerts of the end-to-end test arrive: it has no address, and records the arrival. */
export const canaryChannel: Channel = {
  name: CANARY_CHANNEL,
  delaysMs: [0, 5_000, 30_000],
  timeoutMs: 5_000,
  prepare: () =>
    Promise.resolve(() =>
      Promise.resolve({
        outcome: 'delivered',
        status: null,
        errorCode: null,
        errorText: null,
        durationMs: 0,
        details: {},
      }),
    ),
  async settled(tx, _app, attempts) {
    const runIds = attempts.flatMap(({ delivery }) => runIdOf(delivery) ?? [])
    await markArrived(tx, runIds)
  },
}

function runIdOf({ type, body }: ClaimedDelivery): string | null {
  if (type !== 'alert.fired') return null
  const { data } = AlertMessage.parse(JSON.parse(body.toString()))
  return data.issue === null ? null : runIdIn(data.issue.title)
}
