import type { App } from '../../platform/context/app.ts'
import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'

/** Who delivers a push to a device. */
const PROVIDERS = ['expo', 'fcm'] as const
export type Provider = (typeof PROVIDERS)[number]

const EXPO = /^(Expo(?:nent)?PushToken)\[([A-Za-z0-9_:.=+/-]{1,200})\]$/
/** An installation id and what the service adds; older tokens have no colon. */
const FCM = /^(?:[A-Za-z0-9_-]{6,64}:APA91[A-Za-z0-9_-]{10,2000}|[A-Za-z0-9_:-]{100,2000})$/

/** Whose token this is, by its form; null when it has none of the known forms. */
export function detectPushProvider(token: string): Provider | null {
  if (EXPO.test(token)) return 'expo'
  return FCM.test(token) ? 'fcm' : null
}

const SHOWN_CHARACTERS = 4

/** The part of a token by which its owner recognises it: `ExponentPushToken[…wxyz]`. */
export function maskedToken(token: string): string {
  const [, kind, id = token] = EXPO.exec(token) ?? []
  const end = `…${id.slice(-Math.min(SHOWN_CHARACTERS, Math.floor(id.length / 2)))}`
  return kind === undefined ? end : `${kind}[${end}]`
}

/** By which a token is found without being stored: useless without the key of the installation. */
export const tokenHash = ({ auditKey }: Pick<App, 'auditKey'>, token: string): Buffer =>
  auditKey.mac('push token', token)

/** Where the sealed token of a device is stored; see `Sealer`. */
export const tokenPlace = (orgId: string, deviceId: string): string => `push_devices:token_sealed:${deviceId}:${orgId}`

export const PUSH_TOKENS: OrgSealedColumn = {
  table: 'push_devices',
  column: 'token_sealed',
  keys: ['id'],
  placeOf: (orgId, deviceId = '') => tokenPlace(orgId, deviceId),
}
