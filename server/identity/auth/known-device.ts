import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { readSession } from './auth.queries.ts'
import type { SignInCaller } from './complete-sign-in.ts'
import { readDeviceToken } from './device-token.ts'
import { isDevice } from './devices.queries.ts'

/**
 * The device of a caller who has proved before to be this user: of the `svc_device` cookie, or of the session. Attempts
 * of strangers do not count against it.
 * @returns its id, or the session's where the device is not known; null for strangers
 */
export async function knownDevice(
  app: App,
  userId: string,
  caller: SignInCaller | SessionActor,
): Promise<string | null> {
  if ('kind' in caller) {
    const session = await readSession(app.db, caller.sessionId)
    // A provider can begin any number of sessions, each on another device: they share one count.
    if (session !== null && session.method !== 'password') return session.method
    return session?.device_id ?? caller.sessionId
  }
  const id = readDeviceToken(app, userId, caller.deviceToken)
  return id !== null && (await isDevice(app.db, userId, id)) ? id : null
}
