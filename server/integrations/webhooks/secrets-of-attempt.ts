import type { Trigger } from '../../platform/outbox/delivery.ts'

/** A version of an endpoint's secret. */
export type SecretVersion = {
  readonly version: number
  /** Until when it signs although it is no longer the current one. */
  readonly overlapUntil: Date | null
}

/**
 * The versions that sign an attempt, newest first: attempts of the schedule use the one that was current when the event
 * happened, a replay the current one. In an overlap the current one and the one before sign everything.
 * @param pinned null, or a version that no longer exists, stands for the current one
 */
export function secretsOfAttempt<T extends SecretVersion>(
  secrets: readonly T[],
  current: number,
  { trigger, pinned, now }: { readonly trigger: Trigger; readonly pinned: number | null; readonly now: Date },
): T[] {
  const overlapping = secrets.filter(({ overlapUntil }) => overlapUntil !== null && overlapUntil > now)
  const isPinned = trigger === 'schedule' && secrets.some(({ version }) => version === pinned)
  const versions = new Set([
    isPinned ? pinned : current,
    ...(overlapping.length === 0 ? [] : [current, ...overlapping.map(({ version }) => version)]),
  ])
  return secrets.filter(({ version }) => versions.has(version)).toSorted((a, b) => b.version - a.version)
}
