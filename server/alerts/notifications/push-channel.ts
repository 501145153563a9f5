import type { App } from '../../platform/context/app.ts'
import type { Channel, ClaimedDelivery, Send } from '../../platform/outbox/channel.ts'
import { failed } from './provider-request.ts'
import { PushBody } from './push-message.ts'
import { readTargets } from './read-targets.ts'
import { createPushSender } from './send-pushes.ts'
import { settlePushes } from './settle-pushes.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/** Sends pushes to devices; a lane is an organisation and a provider. A push that comes hours late is of no use. */
export const pushChannel: Channel = {
  name: 'push',
  delaysMs: [0, MINUTE_MS / 2, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS],
  timeoutMs: 24_000,
  prepare,
  settled: settlePushes,
}

const GONE = failed('DEVICE_REMOVED', 'The device is no longer registered by this member.', { isFinal: true })

async function prepare(app: App, batch: readonly ClaimedDelivery[]): Promise<Send> {
  const pushes = new Map(batch.map(({ id, body }) => [id, PushBody.parse(JSON.parse(body.toString()))]))
  const targets = await readTargets(
    app,
    [...pushes.values()].map((push) => push.device_id),
  )
  const send = createPushSender(app)
  return async ({ id, orgId, laneId }) => {
    const push = pushes.get(id)
    if (push === undefined) throw new Error(`delivery ${id} was not prepared`)
    const target = targets.get(push.device_id)
    if (target === undefined || target.userId !== push.user_id || target.orgId !== orgId) return GONE
    const { title, body, data } = push
    return send(target, { title, body, data }, laneId)
  }
}
