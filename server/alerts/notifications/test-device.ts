import type { z } from 'zod'
import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound, unavailable } from '../../platform/kernel/errors.ts'
import { NotSentError } from '../../platform/outbox/channel.ts'
import type { TestPushResult } from './devices.api.ts'
import { selectDevice } from './devices.queries.ts'
import { readTargets } from './read-targets.ts'
import { createPushSender, PushDetails } from './send-pushes.ts'
import { settlePushes } from './settle-pushes.ts'

/** Sends a test to a device of the member, now and once, and reports what the provider answered. @throws AppError not_found, unavailable */
export async function testDevice(app: App, actor: OrgActor, deviceId: string): Promise<z.input<typeof TestPushResult>> {
  const row = await selectDevice(app.db, requireActingMember(actor), deviceId)
  const target = (await readTargets(app, [deviceId])).get(deviceId)
  if (row === undefined || target === undefined) throw notFound('Device')
  const content = {
    title: 'Faultline test',
    body: 'Pushes reach this device.',
    data: { type: 'test', url: `${app.config.publicUrl}/me/notifications` },
  }
  const result = await createPushSender(app)(target, content, `test ${actor.orgId}`).catch((error: unknown) => {
    throw error instanceof NotSentError ? unavailable('No connection is free. Try again in a moment.') : error
  })
  await app.tx((tx) => settlePushes(tx, app, [{ result, endedAt: app.clock.now() }]))
  const { errorCode: code, errorText: text } = result
  return {
    outcome: result.outcome,
    error: code === null ? null : { code, text: text ?? '' },
    device_removed: PushDetails.parse(result.details).is_dead === true,
  }
}
