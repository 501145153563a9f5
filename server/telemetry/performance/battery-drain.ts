import type { BatteryLevel } from '../../events/protocol/device-signals.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** How fast a battery empties, from successive levels of one device. Pure. */

/** The state of a device that is remembered between events. */
export type BatteryState = {
  /** The newest level that was read; older ones arrived before. */
  readonly seenMs: number
  /** Where the next pair starts; null after charging. */
  readonly from: { readonly atMs: number; readonly percent: number } | null
}

export type Drain = { readonly atMs: number; readonly percentPerHour: number }

const MIN_GAP_MS = 10 * 60_000
/** Between levels further apart the device was charged or not used. */
export const MAX_GAP_MS = 24 * 3_600_000

/**
 * The drains between levels at least ten minutes apart, while the device was not charging.
 * @param levels oldest first; those that were read before are skipped
 */
export function findDrains(
  state: BatteryState | null,
  levels: readonly BatteryLevel[],
): { readonly drains: readonly Drain[]; readonly state: BatteryState | null } {
  const drains: Drain[] = []
  let now = state
  for (const { atMs, percent, isCharging } of levels) {
    if (now !== null && atMs <= now.seenMs) continue
    const from = now?.from ?? null
    const gapMs = from === null ? 0 : atMs - from.atMs
    if (isCharging) now = { seenMs: atMs, from: null }
    else if (from === null || percent > from.percent || gapMs > MAX_GAP_MS)
      now = { seenMs: atMs, from: { atMs, percent } }
    else if (gapMs < MIN_GAP_MS) now = { seenMs: atMs, from }
    else {
      drains.push({ atMs, percentPerHour: ((from.percent - percent) * HOUR_MS) / gapMs })
      now = { seenMs: atMs, from: { atMs, percent } }
    }
  }
  return { drains, state: now }
}
