import { isIP } from 'node:net'
import type { EventUser } from './event.api.ts'
import { cleanRecord, isEmpty, isRecord, JsonBudget, type JsonRecord, textField } from './json.ts'
import { FILTERED } from './scrub-words.ts'
import type { Notes } from './strings.ts'
import { hash as digestOf } from 'node:crypto'

/** The affected user of an event. */

const AUTO = '{{auto}}'
const KNOWN = new Set(['id', 'username', 'email', 'name', 'ip_address', 'geo', 'data'])

type AddressSetting = {
  clientIp: string | null
  /** `sdk.settings.infer_ip` as sent. */
  inferIp: unknown
  platform: string
  /** `request.env.REMOTE_ADDR` as sent. */
  remoteAddr: unknown
}

/**
 * Reads the user, with an inferred IP address only if the client asks for it or its SDK expects it; null without any
 * data.
 */
export function readUser(raw: unknown, address: AddressSetting, notes: Notes): EventUser | null {
  if (raw !== null && raw !== undefined && !isRecord(raw)) notes.add('user', 'Expected an object.')
  const user = isRecord(raw) ? raw : {}
  const read: EventUser = {
    id: textField(user['id'], 256, notes, 'user.id'),
    username: textField(user['username'], 256, notes, 'user.username'),
    email: textField(user['email'], 256, notes, 'user.email'),
    name: textField(user['name'], 256, notes, 'user.name'),
    ip_address: readAddress(user['ip_address'], address, notes),
    geo: user['geo'] === undefined ? null : cleanRecord(user['geo'], new JsonBudget(4_096), notes, 'user.geo'),
    data: readData(user, notes),
  }
  return Object.values(read).some((value) => value !== null) ? read : null
}

function readAddress(raw: unknown, setting: AddressSetting, notes: Notes): string | null {
  if (typeof raw === 'string' && raw !== '') {
    if (raw.length <= 16 && raw.replaceAll(/\s/g, '') === AUTO) {
      return setting.inferIp === 'never' ? null : setting.clientIp
    }
    if (raw.length <= 45 && isIP(raw) !== 0) return raw
    notes.add('user.ip_address', 'Not an address.')
    return null
  }
  if (raw !== null && raw !== undefined && raw !== '') notes.add('user.ip_address', 'Expected text.')
  if (setting.inferIp === 'never') return null
  const remote = setting.remoteAddr
  if (typeof remote === 'string' && remote.length <= 45 && isIP(remote) !== 0) return remote
  if (setting.inferIp === 'auto') return setting.clientIp
  return setting.platform === 'javascript' || setting.platform === 'cocoa' ? setting.clientIp : null
}

/** `data`, and further keys of the client. */
function readData(user: Record<string, unknown>, notes: Notes): JsonRecord | null {
  let others: [string, unknown][] | null = null
  for (const key in user) {
    if (KNOWN.has(key) || user[key] === null) continue
    others ??= []
    others.push([key, user[key]])
  }
  const data = user['data']
  if (others === null && (data === undefined || data === null)) return null
  const budget = new JsonBudget(16_384)
  const clean = data === undefined ? null : cleanRecord(data, budget, notes, 'user.data')
  const rest = others === null ? null : cleanRecord(Object.fromEntries(others), budget, notes, 'user')
  const merged = { ...rest, ...clean }
  return isEmpty(merged) ? null : merged
}

/** The key of a user that a payload names by id, user name or e-mail address; null where it names none, or no longer. */
export function userKey(user: unknown): string | null {
  if (!isRecord(user)) return null
  for (const key of [user['id'], user['username'], user['email']]) {
    if (typeof key === 'number') return String(key)
    if (typeof key === 'string' && key !== '' && key !== FILTERED) return key
  }
  return null
}

/**
 * Identifies a user of an app in counts: 52 bits of a hash of the project and the client's key (an event's user, a
 * session's distinct id). It differs between projects.
 */
export const hashUser = (projectId: string, key: string): number =>
  Number.parseInt(digestOf('sha256', `${projectId}\n${key}`, 'hex').slice(0, 13), 16)
