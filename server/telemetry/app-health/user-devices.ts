import { utcDay } from '../../platform/kernel/day.ts'
import type { Recorder } from '../../events/items/recorder.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { Attributes } from './dimensions.ts'
import * as sql from './user-devices.queries.ts'
import type { SeenDevice } from './user-devices.queries.ts'

/**
 * Devices of users. SDKs of phones send no device with a session, but with events and transactions; both name the same
 * installation.
 */

/** Remembers the device of each user, the last of a batch. Writes what changed, in lock order. */
export async function learnDevices(tx: Tx, now: Date, seen: readonly SeenDevice[]): Promise<void> {
  const byUser = new Map(seen.map((one) => [sql.userKey(one), one]))
  if (byUser.size === 0) return
  const sorted = [...byUser].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  await sql.saveDevices(tx, utcDay(now), sorted)
}

/** The recorder of what transactions say. */
export const recordUserDevices: Recorder<SeenDevice> = async (tx, { at: now }, facts) => {
  await learnDevices(
    tx,
    now,
    facts.map(({ fact }) => fact),
  )
  return null
}

type User = { readonly projectId: string; readonly userHash: number | null; readonly attributes: Attributes }

/** The attributes of sessions, with the device of their user where they name none. A browser's names its system. */
export async function withKnownDevices(tx: Tx, sessions: readonly User[]): Promise<Attributes[]> {
  const users = sessions.flatMap(({ projectId, userHash, attributes }) =>
    userHash === null || !isUnknown(attributes) ? [] : [{ projectId, userHash }],
  )
  if (users.length === 0) return sessions.map(({ attributes }) => attributes)
  const known = await sql.findDevices(tx, users)
  return sessions.map(({ projectId, userHash, attributes }) =>
    userHash === null || !isUnknown(attributes)
      ? attributes
      : { ...attributes, ...known.get(sql.userKey({ projectId, userHash })) },
  )
}

const isUnknown = ({ os, device }: Attributes): boolean => os === '' && device === ''
