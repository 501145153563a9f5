import { isAnr } from '../../events/protocol/anr.ts'
import type { DeviceSignals, MemoryLevel } from '../../events/protocol/device-signals.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import type { MeasuredValue } from '../performance/fact.ts'

/** Signs that an app may soon crash, in what it reports (docs/alerts-triggers.md). Pure. */

/** The order of the signs is the order of the numbers in the table. Only append. */
export const PRECURSORS = [
  'crash',
  'low_memory',
  'thermal_serious',
  'thermal_critical',
  'frozen_frames',
  'app_hang',
  'anr_warning',
  'memory_growth',
] as const
export type Sign = (typeof PRECURSORS)[number]

/** The signs and memory levels in a report, about the session that sent it. */
export type PrecursorReport = {
  readonly projectId: string
  /** A hash of the user, else of the device. */
  readonly owner: number
  readonly signs: readonly { readonly sign: Sign; readonly atMs: number }[]
  /** Oldest first. */
  readonly memory: readonly MemoryLevel[]
}

type Signs = PrecursorReport['signs']

/** Android calls frozen frames excessive from this share of all frames. */
const MIN_FROZEN_SHARE = 0.001
/** A hang of an app, as SDKs of Apple systems define it. */
const MIN_STALL_MS = 2_000

const ofDevice = (signals: DeviceSignals | null): Signs =>
  signals?.warnings.map(({ metric, atMs }) => ({ sign: metric, atMs })) ?? []

/**
 * The signs in an error event. A hang or ANR is a precursor and no crash.
 * @param isCrash whether it ended the app
 */
export function signsOfEvent(
  event: Pick<Event, 'exceptions' | 'contexts'>,
  isCrash: boolean,
  at: Date,
  signals: DeviceSignals | null,
): Signs {
  const atMs = at.getTime()
  if (isAnr(event)) return [...ofDevice(signals), { sign: isHang(event) ? 'app_hang' : 'anr_warning', atMs }]
  // Only devices report precursors, so crashes elsewhere need no row.
  const { device, browser } = event.contexts
  if (isCrash && device !== undefined && browser === undefined) return [...ofDevice(signals), { sign: 'crash', atMs }]
  return ofDevice(signals)
}

/** Apple systems speak of hangs, Android of ANRs. */
const isHang = ({ exceptions }: Pick<Event, 'exceptions'>): boolean =>
  exceptions.some(
    ({ type, mechanism }) =>
      type?.startsWith('App Hang') === true || /^(?:app_?hang|mx_?hang)/i.test(mechanism?.type ?? ''),
  )

/** The signs in a transaction: its device's, frozen frames, long stalls. */
export function signsOfTransaction(values: readonly MeasuredValue[], at: Date, signals: DeviceSignals | null): Signs {
  const signs = [...ofDevice(signals)]
  const valueOf = (wanted: MeasuredValue['metric']): number =>
    values.find(({ metric, leftOut }) => metric === wanted && leftOut === null)?.value ?? 0
  const frozen = valueOf('frames_frozen')
  if (frozen > 0 && frozen >= valueOf('frames_total') * MIN_FROZEN_SHARE)
    signs.push({ sign: 'frozen_frames', atMs: at.getTime() })
  if (valueOf('stall_longest_time') >= MIN_STALL_MS) signs.push({ sign: 'app_hang', atMs: at.getTime() })
  return signs
}
