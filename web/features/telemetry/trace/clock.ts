import { formatClock, formatDuration } from '../../../ui/format.ts'

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0')

/** `14:03:18.204`, in the chosen zone: zones differ by whole minutes. */
export function formatMillis(atMs: number): string {
  const date = new Date(atMs)
  return `${formatClock(date)}:${padded(date.getUTCSeconds(), 2)}.${padded(date.getUTCMilliseconds(), 3)}`
}

/** Many spans take less than a millisecond: `<1 ms`. */
export const formatSpanLength = (durationMs: number): string =>
  durationMs > 0 && durationMs < 1 ? `<${formatDuration(1)}` : formatDuration(durationMs)
