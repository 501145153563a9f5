import { useSyncExternalStore } from 'react'
import { onServiceTime, serviceNow } from './clock.ts'

/** One timer per step for the whole page, running only while the page is visible. */
type Ticker = { subscribe: (listener: () => void) => () => void; read: () => number }

function makeTicker(stepMs: number): Ticker {
  const listeners = new Set<() => void>()
  let now = serviceNow()
  let timer: ReturnType<typeof setInterval> | undefined
  const tick = () => {
    now = serviceNow()
    for (const listener of listeners) listener()
  }
  const follow = () => {
    clearInterval(timer)
    timer = document.hidden || listeners.size === 0 ? undefined : setInterval(tick, stepMs)
    if (timer !== undefined) tick()
  }
  onServiceTime(tick)
  return {
    subscribe(listener) {
      listeners.add(listener)
      if (listeners.size === 1) {
        now = serviceNow()
        timer = setInterval(tick, stepMs)
        document.addEventListener('visibilitychange', follow)
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        clearInterval(timer)
        document.removeEventListener('visibilitychange', follow)
      }
    },
    read: () => now,
  }
}

const everySecond = makeTicker(1000)
const everyHalfMinute = makeTicker(30_000)

/** The current time by the clock of the service, updated every second or every 30 s. */
export function useNow(step: 'second' | 'half-minute'): number {
  const ticker = step === 'second' ? everySecond : everyHalfMinute
  return useSyncExternalStore(ticker.subscribe, ticker.read)
}
