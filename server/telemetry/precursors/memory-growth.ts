import type { MemoryLevel } from '../../events/protocol/device-signals.ts'

/** Rapid growth of the memory an app uses, from successive levels of one owner. Pure. */

/** The state of an owner that is remembered between reports. */
export type MemoryState = {
  /** The newest level that was read; older ones arrived before. */
  readonly seenMs: number
  /** The level with which later levels are compared. */
  readonly from: MemoryLevel
}

/** Slower growth is no sign: caches fill. */
const MAX_GAP_MS = 10 * 60_000
const MIN_FACTOR = 1.5
const MIN_GROWTH_BYTES = 50 * 1_048_576

/**
 * The times at which memory had grown by half and by 50 MB within ten minutes.
 * @param levels oldest first; those that were read before are skipped
 */
export function findMemoryGrowths(
  state: MemoryState | null,
  levels: readonly MemoryLevel[],
): { readonly atMs: readonly number[]; readonly state: MemoryState | null } {
  const atMs: number[] = []
  let now = state
  for (const level of levels) {
    if (now !== null && level.atMs <= now.seenMs) continue
    const from = now?.from
    if (from === undefined || level.bytes <= from.bytes || level.atMs - from.atMs > MAX_GAP_MS)
      now = { seenMs: level.atMs, from: level }
    else if (level.bytes >= from.bytes * MIN_FACTOR && level.bytes - from.bytes >= MIN_GROWTH_BYTES) {
      atMs.push(level.atMs)
      now = { seenMs: level.atMs, from: level }
    } else now = { seenMs: level.atMs, from }
  }
  return { atMs, state: now }
}
