import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { deleteDevice } from './devices.queries.ts'

/**
 * Forgets a device of the caller: its cookie and fingerprint are unknown from now on.
 * @throws AppError not_found, also for a device of another user
 */
export async function forgetDevice(app: App, actor: SessionActor, deviceId: string): Promise<void> {
  if (!(await deleteDevice(app.db, actor.userId, deviceId))) throw notFound('Device')
}
