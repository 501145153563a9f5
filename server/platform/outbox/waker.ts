import { setTimeout as delay } from 'node:timers/promises'

/** Ends the waits of one loop. */
type Waker = {
  wake(): void
  /** Waits until woken, also by a call before, for at most `ms` or until the signal aborts. @returns whether it was woken */
  wait(ms: number, signal: AbortSignal): Promise<boolean>
}

export function createWaker(): Waker {
  let isWoken = false
  let endWait: (() => void) | null = null
  return {
    wake() {
      isWoken = true
      endWait?.()
    },
    async wait(ms, signal) {
      if (!isWoken && ms > 0 && !signal.aborted) {
        // No combined signal: those of some runtimes stay with the long-lived one.
        const { promise, resolve } = Promise.withResolvers<void>()
        const end = (): void => resolve()
        const timer = setTimeout(end, ms)
        signal.addEventListener('abort', end)
        endWait = end
        await promise
        endWait = null
        signal.removeEventListener('abort', end)
        clearTimeout(timer)
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
