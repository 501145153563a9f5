import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { isLoopbackHost } from '../../config/config.ts'
import { rateLimited } from '../../platform/kernel/errors.ts'

const WINDOW_MS = 60_000
const PER_ADDRESS = 600
const PER_KEY = 1_200
/** Above this number all counters are dropped, to bound memory. */
const MAX_COUNTERS = 100_000

/** A request that was counted. */
export type Admission = {
  /** The `RateLimit` headers of its response; none when no limit applies. */
  headers(): Readonly<Record<string, string>>
  /** Removes the request from the count. */
  giveBack(): void
}

const UNLIMITED: Admission = { headers: () => ({}), giveBack: () => {} }

/** Each throws `rate_limited`; `onFirst` is called for the first refusal of an address or key in a minute. */
export type ApiLimits = {
  address(caller: Caller, onFirst: () => void): Admission
  key(keyId: string, onFirst: () => void): Admission
}

/**
 * 600 API calls per minute and address, 1,200 per API key. No limit by address for loopback clients in relaxed mode.
 */
export function apiLimits(app: App): ApiLimits {
  const byAddress = slidingWindows(app, { name: 'api', quota: PER_ADDRESS, of: 'from this address' })
  const byKey = slidingWindows(app, { name: 'api-key', quota: PER_KEY, of: 'with this API key' })
  return {
    address: ({ origin: { ip } }, onFirst) =>
      app.config.mode === 'relaxed' && isLoopbackHost(ip) ? UNLIMITED : byAddress(ip, onFirst),
    key: byKey,
  }
}

type Window = { start: number; now: number; before: number; isRefused: boolean }

/** A sliding window of two counters for each counted thing. */
function slidingWindows(app: App, limit: { readonly name: string; readonly quota: number; readonly of: string }) {
  const quota = limit.quota * app.config.rateLimitScale
  const policy = `"${limit.name}";q=${quota};w=${WINDOW_MS / 1000}`
  const windows = new Map<string, Window>()

  function windowOf(key: string, start: number): Window {
    if (windows.size > MAX_COUNTERS) windows.clear()
    const window = windows.get(key) ?? { start, now: 0, before: 0, isRefused: false }
    if (window.start !== start) {
      window.before = window.start === start - WINDOW_MS ? window.now : 0
      window.now = 0
      window.isRefused = false
      window.start = start
    }
    windows.set(key, window)
    return window
  }

  return (key: string, onFirst: () => void): Admission => {
    if (quota === 0) return UNLIMITED
    const time = app.clock.monotonicMs()
    const start = Math.floor(time / WINDOW_MS) * WINDOW_MS
    const seconds = Math.ceil((start + WINDOW_MS - time) / 1000)
    const window = windowOf(key, start)
    const used = () => window.before * (1 - (time - start) / WINDOW_MS) + window.now
    const headers = () => ({
      'ratelimit-policy': policy,
      ratelimit: `"${limit.name}";r=${Math.max(0, Math.floor(quota - used()))};t=${seconds}`,
    })
    if (used() >= quota) {
      if (!window.isRefused) onFirst()
      window.isRefused = true
      throw rateLimited(`Too many requests ${limit.of}. Try again in ${seconds} s.`, seconds, headers())
    }
    window.now++
    return {
      headers,
      giveBack: () => {
        if (window.start === start) window.now--
      },
    }
  }
}
