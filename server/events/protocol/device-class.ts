/** The performance class of a device (docs/protocol.md §15.4), a filter for performance; empty when unknown. */
export type DeviceClass = '' | 'low' | 'medium' | 'high'

/**
 * By memory, or by processors when the memory is unknown. For phones of 2026: below 3 GB apps are slow, from 5.5 GB (sold
 * as 6) they are not.
 */
export function deviceClass(memoryBytes: number | null, processors: number | null): DeviceClass {
  if (memoryBytes !== null && memoryBytes > 0) {
    return memoryBytes < 3e9 ? 'low' : memoryBytes < 5.5e9 ? 'medium' : 'high'
  }
  if (processors === null || processors <= 0) return ''
  return processors < 4 ? 'low' : processors < 8 ? 'medium' : 'high'
}

/** Memory as browsers send it, in rounded GB: `16`, `"16 GB"`; else null. */
export function browserMemory(value: unknown): number | null {
  const gigabytes = typeof value === 'string' ? Number.parseFloat(value) : value
  return typeof gigabytes === 'number' && gigabytes > 0 && gigabytes < 10_000 ? gigabytes * 1e9 : null
}
