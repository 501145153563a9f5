import { timingSafeEqual } from 'node:crypto'
import type { App } from '../../platform/context/app.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { deleteDevice } from './devices.queries.ts'

/** The `svc_device` cookie: `dv_<device>.<hmac>`. It is bound to a user; without a signature of ours it names nothing. */

export const DEVICE_COOKIE = 'svc_device'
export const DEVICE_COOKIE_DAYS = 400

const macOf = ({ auditKey }: App, userId: string, deviceId: string): Buffer =>
  auditKey.mac('device cookie', userId, deviceId)

export const makeDeviceToken = (app: App, userId: string, deviceId: string): string =>
  `dv_${deviceId}.${macOf(app, userId, deviceId).toString('base64url')}`

/** @returns the id of the device, null when the token is not one of this user */
export function readDeviceToken(app: App, userId: string, token: string | null | undefined): string | null {
  const [, id = '', mac = ''] = /^dv_([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/.exec(token ?? '') ?? []
  if (!isUuid(id)) return null
  return timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(app, userId, id)) ? id : null
}

/** A fingerprint that a device keeps after an update; reveals nothing without the installation's key. */
export const deviceFingerprint = ({ auditKey }: App, userId: string, family: readonly string[]): Buffer =>
  auditKey.mac('device fingerprint', userId, ...family)

/**
 * Forgets a device of the caller: its cookie and fingerprint are unknown from now on.
 * @throws AppError not_found, also for a device of another user
 */
export async function forgetDevice(app: App, actor: SessionActor, deviceId: string): Promise<void> {
  if (!(await deleteDevice(app.db, actor.userId, deviceId))) throw notFound('Device')
}
