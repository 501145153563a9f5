/** How able a device is (docs/protocol.md §15.4), a filter for performance; empty when nothing is known of it. */
export type DeviceClass = '' | 'low' | 'medium' | 'high'

/**
 * By memory; by processors where a browser or phone keeps its memory to itself. Phones of 2026: below 3 GB every app is
 * slow, from 5.5 GB (sold as 6) none is.
 */
export function deviceClass(memoryBytes: number | null, processors: number | null): DeviceClass {
  if (memoryBytes !== null && memoryBytes > 0) {
    return memoryBytes < 3e9 ? 'low' : memoryBytes < 5.5e9 ? 'medium' : 'high'
  }
  if (processors === null || processors <= 0) return ''
  return processors < 4 ? 'low' : processors < 8 ? 'medium' : 'high'
}

/** Browsers tell memory in GB, rounded: `16`, `"16 GB"`; null for anything else. */
export function browserMemory(value: unknown): number | null {
  const gigabytes = typeof value === 'string' ? Number.parseFloat(value) : value
  return typeof gigabytes === 'number' && gigabytes > 0 && gigabytes < 10_000 ? gigabytes * 1e9 : null
}
