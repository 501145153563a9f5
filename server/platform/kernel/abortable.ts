/**
 * Waits for work until the signal aborts. The work itself is not ended: only for work that may stay unfinished.
 * @throws the signal's reason
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
    // A later failure is ignored.
    work.catch(() => {})
  }
}

/**
 * Waits for work for at most `graceMs`; returns whether it ended in time. A later failure is ignored.
 * @throws what the work throws within its time
 */
export async function withinGrace(graceMs: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), graceMs)
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
