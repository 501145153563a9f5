/** Since when data was read that no live stream watched; null where there is none. Milliseconds of `performance.now()`. */
let sinceMs: number | null = null
let watched = false
let forgotten = false

/** A request for data that began then was answered. */
export function noteRead(startedMs: number): void {
  forgotten = false
  if (!watched) sinceMs = Math.min(sinceMs ?? startedMs, startedMs)
}

/** The stream is open: from now on it reports what changes. @returns since when nothing did */
export function beginWatch(): number | null {
  const since = sinceMs
  sinceMs = null
  watched = true
  return since
}

/** The stream is closed, and what was read is still shown or cached. */
export function endWatch(): void {
  if (watched && !forgotten) sinceMs = performance.now()
  watched = false
}

/** Everything that is shown is read again from now on. */
export function restartReads(): void {
  sinceMs = performance.now()
}

/** The session ended, and everything that was read is gone. */
export function forgetReads(): void {
  sinceMs = null
  forgotten = true
}
