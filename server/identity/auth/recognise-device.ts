import type { RequestOrigin } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { markFirstDevice } from './auth.queries.ts'
import { deviceAgent } from './device-agent.ts'
import { deviceFingerprint, readDeviceToken } from './device-token.ts'
import { deleteSurplusDevices, findDevice, insertDevice, touchDevice } from './devices.queries.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** A fingerprint counts as known for this long. */
const SEEN_DAYS = 365
const MAX_DEVICES = 100

export type SignInDevice = {
  readonly id: string
  readonly label: string
  readonly isNew: boolean
  /** The user has never logged in before. */
  readonly isFirst: boolean
}

/**
 * The device of a sign-in: the one that its cookie names, or else one of the same families of browser, system and device
 * that the user logged in with in the last year, or else a new one. The transaction holds the lock of the user's row.
 * @param token the `svc_device` cookie
 */
export async function recogniseDevice(
  tx: Tx,
  app: App,
  userId: string,
  { origin, token }: { readonly origin: RequestOrigin; readonly token: string | null | undefined },
): Promise<SignInDevice> {
  const now = app.clock.now()
  const { label, family } = deviceAgent(origin.userAgent)
  const fingerprint = deviceFingerprint(app, userId, family)
  const known = await findDevice(tx, userId, {
    id: readDeviceToken(app, userId, token),
    fingerprint,
    seenSince: new Date(now.getTime() - SEEN_DAYS * DAY_MS),
  })
  if (known !== null) {
    await touchDevice(tx, known.id, now)
    return { id: known.id, label: known.label, isNew: false, isFirst: false }
  }
  const id = newId()
  await insertDevice(tx, { id, user_id: userId, fingerprint, label, first_seen_at: now, last_seen_at: now })
  await deleteSurplusDevices(tx, userId, MAX_DEVICES)
  return { id, label, isNew: true, isFirst: await markFirstDevice(tx, userId, now) }
}
