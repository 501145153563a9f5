import type { App } from '../../platform/context/app.ts'
import { addJob } from '../../platform/jobs/task.ts'
import type { AttemptResult } from '../../platform/outbox/channel.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { deleteDevices } from './devices.queries.ts'
import { noteResults, type PushNote } from './pushes.queries.ts'
import { RECEIPTS_JOB, RECEIPTS_DELAY_MS } from './receipts-job.ts'
import { PushDetails } from './send-pushes.ts'

type PushAttempt = { readonly result: AttemptResult; readonly endedAt: Date }

/** Notes on each device how its newest push went, removes dead ones, and asks Expo for the receipts of its tickets later. */
export async function settlePushes(tx: Tx, app: App, attempts: readonly PushAttempt[]): Promise<void> {
  const notes = new Map<string, PushNote>()
  const dead: string[] = []
  const tickets: { id: string; device_id: string }[] = []
  for (const { result, endedAt: at } of attempts) {
    const { device_id: deviceId, ticket_id: ticketId, is_dead: isDead } = PushDetails.parse(result.details)
    if (deviceId === undefined) continue
    const { errorCode: code, errorText: text } = result
    notes.set(deviceId, { deviceId, at, error: code === null ? null : { code, text: text ?? '' } })
    if (isDead === true) dead.push(deviceId)
    if (ticketId !== undefined) tickets.push({ id: ticketId, device_id: deviceId })
  }
  if (notes.size > 0) await noteResults(tx, [...notes.values()])
  if (dead.length > 0) await removeDead(tx, app, dead)
  if (tickets.length > 0)
    await addJob(tx, RECEIPTS_JOB, { tickets, round: 0 }, { runAt: new Date(Date.now() + RECEIPTS_DELAY_MS) })
}

/** Removes devices whose token will never work again. */
export async function removeDead(tx: Tx, app: App, deviceIds: readonly string[]): Promise<void> {
  await deleteDevices(tx, deviceIds)
  app.log.info({ device_ids: deviceIds }, 'push_device.dead')
}
