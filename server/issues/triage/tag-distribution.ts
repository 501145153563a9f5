import type { Tag } from '../../events/protocol/event.api.ts'

export type Distribution = { key: string; total: number; values: { value: string; count: number }[] }

const MAX_KEYS = 40
const MAX_VALUES = 10

/** The number of events for each tag value; the most frequent keys and values first. */
export function countTagValues(events: readonly (readonly Tag[])[]): Distribution[] {
  const keys = new Map<string, Map<string, number>>()
  for (const tags of events) {
    for (const { key, value } of tags) {
      const values = keys.get(key) ?? new Map<string, number>()
      values.set(value, (values.get(value) ?? 0) + 1)
      keys.set(key, values)
    }
  }
  return [...keys]
    .map(([key, values]) => ({
      key,
      total: [...values.values()].reduce((sum, count) => sum + count, 0),
      values: [...values]
        .map(([value, count]) => ({ value, count }))
        .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
        .slice(0, MAX_VALUES),
    }))
    .sort((a, b) => b.total - a.total || (a.key < b.key ? -1 : 1))
    .slice(0, MAX_KEYS)
}
