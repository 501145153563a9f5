import type { AnrCause } from '../../events/protocol/anr.ts'
import type { DeviceSignals, Warning } from '../../events/protocol/device-signals.ts'
import type { Metric } from '../../events/protocol/span-values.ts'
import type { Origin } from '../../events/protocol/transaction.ts'
import { userDeviceKey, partKey, warningKey, type MeasuredValue, type PerformanceFact } from './fact.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** An event or transaction that says something about its device. */
export type Reporter = {
  readonly projectId: string
  /** Id of the event, or of the transaction's segment: its signals count once. */
  readonly id: string
  readonly at: Date
  /** A hash of the user; null when unknown. */
  readonly user: number | null
  readonly origin: Origin
}

/** The op of signals, whose name is the screen. */
const DEVICE_OP = 'device'

const counted = (metric: Metric, value = 1): MeasuredValue => ({
  metric,
  value,
  leftOut: null,
  rank: 0,
  onceKey: null,
})

const ofDevice = ({ projectId, at }: Reporter, part: 'anr' | 'signals', id: string) =>
  ({
    projectId,
    identities: [partKey(projectId, part, id)],
    role: 'own',
    segmentKey: null,
    waits: false,
    at,
    failed: false,
  }) as const

/** An ANR, counted under its blocking call as name and its fingerprint as op, which leads to the issue. */
export const measureAnr = (of: Reporter, { call, waitMs }: AnrCause, fingerprint: string): PerformanceFact => ({
  ...ofDevice(of, 'anr', of.id),
  dimensions: { ...of.origin, name: call, op: fingerprint },
  values: [counted('anr'), ...(waitMs === null ? [] : [counted('anr_wait', waitMs)])],
})

/** Warnings and battery levels. Levels without a known user have no other levels to be compared with. */
export function measureSignals(of: Reporter & { readonly screen: string }, signals: DeviceSignals): PerformanceFact {
  const { projectId, user, origin } = of
  const { levels, warnings } = signals
  const fact = {
    ...ofDevice(of, 'signals', of.id),
    dimensions: { ...origin, name: of.screen, op: DEVICE_OP },
    values: warnings.map((warning) => ({
      ...counted(warning.metric),
      at: new Date(warning.atMs),
      onceKey: onceKey(of, warning),
    })),
  }
  if (levels.length === 0) return fact
  const owner = user === null ? of.id : String(user)
  return { ...fact, battery: { deviceKey: userDeviceKey(projectId, owner, origin.device), levels } }
}

/**
 * Every event repeats the breadcrumbs of those before: one is known by its time. A state counts once per user and hour.
 */
function onceKey({ projectId, id, user, origin }: Reporter, { metric, atMs, isState }: Warning): number {
  if (!isState) return warningKey(projectId, `${user ?? ''}/${origin.device}`, metric, String(atMs))
  const owner = user === null ? id : `${user}/${origin.device}`
  return warningKey(projectId, owner, metric, `hour ${Math.floor(atMs / HOUR_MS)}`)
}
