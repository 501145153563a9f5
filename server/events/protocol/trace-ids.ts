import { eventIdFrom } from '../../platform/kernel/ids.ts'

/** Trace and span ids: lower-case hex; an all-zero id means none. */

export const readTraceId = (value: unknown): string | null => eventIdFrom(value)

export function readSpanId(value: unknown): string | null {
  if (typeof value !== 'string' || value.length !== 16) return null
  const id = value.toLowerCase()
  return /^[0-9a-f]{16}$/.test(id) && id !== '0000000000000000' ? id : null
}
