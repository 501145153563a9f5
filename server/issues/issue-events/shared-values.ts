import type { Tag } from '../../events/protocol/event.api.ts'

/** Values that events have in common and other events do not have. Pure. */

export type Share = {
  readonly key: string
  readonly value: string
  readonly count: number
  readonly share: number
  readonly baseline_count: number
  readonly baseline_share: number | null
  readonly lift: number | null
}

const MAX_VALUES_PER_KEY = 10
const MAX_SHARES = 60
/** A value of a single event is not shared, unless there is only one event. */
const MIN_COUNT = 2

/**
 * Values of these events compared with other events, by lift, then by frequency. Both sides are smoothed (one event with
 * the value and one without are added), because small samples say little: 3 against 0 of 5 is no difference.
 */
export function sharedValues(own: readonly (readonly Tag[])[], others: readonly (readonly Tag[])[]): Share[] {
  const counts = countValues(own)
  const baseline = countValues(others)
  const shares: Share[] = []
  for (const [key, values] of counts) {
    const listed = [...values]
      .filter(([, count]) => own.length < MIN_COUNT || count >= MIN_COUNT)
      .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      .slice(0, MAX_VALUES_PER_KEY)
    for (const [value, count] of listed) {
      const there = baseline.get(key)?.get(value) ?? 0
      const lift = others.length === 0 ? null : (count + 1) / (own.length + 2) / ((there + 1) / (others.length + 2))
      shares.push({
        key,
        value,
        count,
        share: count / own.length,
        baseline_count: there,
        baseline_share: others.length === 0 ? null : there / others.length,
        lift: lift === null ? null : Math.round(lift * 100) / 100,
      })
    }
  }
  return shares
    .toSorted(
      (a, b) =>
        (b.lift ?? 0) - (a.lift ?? 0) ||
        b.count - a.count ||
        (a.key < b.key ? -1 : a.key > b.key ? 1 : a.value < b.value ? -1 : 1),
    )
    .slice(0, MAX_SHARES)
}

function countValues(events: readonly (readonly Tag[])[]): Map<string, Map<string, number>> {
  const keys = new Map<string, Map<string, number>>()
  for (const tags of events) {
    const seen = new Set<string>()
    for (const { key, value } of tags) {
      // An event that repeats a tag counts once.
      const name = JSON.stringify([key, value])
      if (seen.has(name)) continue
      seen.add(name)
      const values = keys.get(key) ?? new Map<string, number>()
      values.set(value, (values.get(value) ?? 0) + 1)
      keys.set(key, values)
    }
  }
  return keys
}
