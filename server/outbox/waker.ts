import { setTimeout as delay } from 'node:timers/promises'

/** Ends the waits of one loop. */
export type Waker = {
  wake(): void
  /** Waits until woken, also by a call before, for at most `ms` or until the signal aborts. @returns whether it was woken */
  wait(ms: number, signal: AbortSignal): Promise<boolean>
}

export function createWaker(): Waker {
  let isWoken = false
  let waiting: AbortController | null = null
  return {
    wake() {
      isWoken = true
      waiting?.abort()
    },
    async wait(ms, signal) {
      if (!isWoken && ms > 0) {
        waiting = new AbortController()
        await pause(ms, AbortSignal.any([signal, waiting.signal]))
        waiting = null
      }
      const was = isWoken
      isWoken = false
      return was
    },
  }
}

/** Waits; returns early when the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => {})
}
