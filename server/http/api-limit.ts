import type { Caller } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { isLoopbackHost } from '../config.ts'
import { rateLimited } from '../kernel/errors.ts'

const WINDOW_MS = 60_000
const PER_ADDRESS = 600
/** Above this number all counters are dropped, to bound memory. */
const MAX_ADDRESSES = 100_000

/** @param onFirst called for the first refusal of an address in a minute. */
export type Admit = (caller: Caller, onFirst: () => void) => void

/**
 * 600 API calls per minute and address, in a sliding window of two counters. No limit for loopback clients in relaxed
 * mode.
 */
export function apiLimiter(app: App): Admit {
  const quota = PER_ADDRESS * app.config.rateLimitScale
  const windows = new Map<string, { start: number; now: number; before: number; isRefused: boolean }>()
  return ({ origin: { ip } }, onFirst) => {
    if (quota === 0 || (app.config.mode === 'relaxed' && isLoopbackHost(ip))) return
    const time = app.clock.monotonicMs()
    const start = Math.floor(time / WINDOW_MS) * WINDOW_MS
    if (windows.size > MAX_ADDRESSES) windows.clear()
    const window = windows.get(ip) ?? { start, now: 0, before: 0, isRefused: false }
    if (window.start !== start) {
      window.before = window.start === start - WINDOW_MS ? window.now : 0
      window.now = 0
      window.isRefused = false
      window.start = start
    }
    windows.set(ip, window)
    const share = 1 - (time - start) / WINDOW_MS
    if (window.before * share + window.now >= quota) {
      if (!window.isRefused) onFirst()
      window.isRefused = true
      const seconds = Math.ceil((start + WINDOW_MS - time) / 1000)
      throw rateLimited(`Too many requests from this address. Try again in ${seconds} s.`, seconds, {
        'ratelimit-policy': `"api";q=${quota};w=${WINDOW_MS / 1000}`,
        ratelimit: `"api";r=0;t=${seconds}`,
      })
    }
    window.now++
  }
}
