/** The time of the service: what it sends has times by its clock, and the clock of a browser can be a day off. */

/** `Date` has whole seconds and waits with its answer, so a smaller difference is none. */
const MIN_OFFSET_MS = 30_000

let offsetMs = 0
const listeners = new Set<() => void>()

/** Milliseconds since 1970, by the clock of the service as far as it is known. */
export const serviceNow = (): number => Date.now() + offsetMs

/** Learns the time of the service from the header `Date` of an answer that has just arrived. */
export function learnServiceTime(date: string | null): void {
  const foundMs = Date.parse(date ?? '') - Date.now()
  if (Number.isNaN(foundMs) || Math.abs(foundMs - offsetMs) < MIN_OFFSET_MS) return
  offsetMs = Math.abs(foundMs) < MIN_OFFSET_MS ? 0 : foundMs
  for (const listener of listeners) listener()
}

/** Calls the listener when the time of the service turns out to differ from what it was taken for. */
export const onServiceTime = (listener: () => void): void => void listeners.add(listener)
