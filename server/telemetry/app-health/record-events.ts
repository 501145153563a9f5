import type { Device } from '../../events/protocol/device.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { addUser, Deltas } from './deltas.ts'
import { insertDeltas } from './deltas.queries.ts'

/** A stored event, as far as it is counted. */
export type CountedEvent = {
  readonly projectId: string
  readonly occurredAt: Date
  readonly release: string | null
  readonly environment: string
  readonly device: Device
  /** 52 bits; see events/protocol/user.ts. */
  readonly userHash: number | null
  readonly isUnhandled: boolean
  /** A crash or a hang of the app: the most urgent events. */
  readonly isCritical: boolean
  /** Whether the app hung, and where it was. */
  readonly anr: 'foreground' | 'background' | null
}

/** Appends counts of stored events, by the minute of their time. A crash is critical and no hang. */
export async function countEvents(tx: Tx, events: Iterable<CountedEvent>): Promise<void> {
  const deltas = new Deltas()
  for (const { projectId, occurredAt, release, environment, device, userHash, ...event } of events) {
    const attributes = { release: release ?? '', environment, ...device }
    const delta = deltas.of(projectId, 'events', attributes, occurredAt.getTime())
    const isCrash = event.isCritical && event.anr === null
    delta.counts.total++
    if (event.isCritical) delta.counts.critical++
    if (event.isUnhandled) delta.counts.unhandled++
    if (isCrash) delta.counts.crashed++
    if (event.anr !== null) delta.counts[`anr_${event.anr}`]++
    if (userHash === null) continue
    addUser(delta, 'users', userHash)
    if (event.isUnhandled) addUser(delta, 'unhandled_users', userHash)
    if (isCrash) addUser(delta, 'crashed_users', userHash)
    if (event.anr !== null) addUser(delta, 'anr_users', userHash)
    if (event.anr === 'foreground') addUser(delta, 'anr_foreground_users', userHash)
  }
  await insertDeltas(tx, deltas.list())
}
