import { randomBytes } from 'node:crypto'
import type { App } from '#server/platform/context/app.ts'
import { registerDevice } from '#server/alerts/notifications/register-device.ts'
import type { Person } from './members.ts'

/** A token as Expo gives them out. */
export const expoToken = (): string => `ExponentPushToken[${randomBytes(16).toString('base64url')}]`

/** A registration token as Firebase gives them out. */
export const fcmToken = (): string =>
  `${randomBytes(16).toString('base64url')}:APA91b${randomBytes(100).toString('base64url')}`

export type TestDevice = { readonly id: string; readonly token: string }

/** A device of a member, by default one of Expo. */
export async function aDevice(
  app: App,
  { actor }: Pick<Person, 'actor'>,
  { token = expoToken(), platform = 'ios' }: { token?: string; platform?: 'ios' | 'android' | 'web' } = {},
): Promise<TestDevice> {
  const { device } = await registerDevice(app, actor, { token, platform })
  return { id: device.id, token }
}
