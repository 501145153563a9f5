import ipaddr from 'ipaddr.js'
import type { Category } from '../protocol/categories.ts'

/** Per project key and category (security.md 4.5), before RATE_LIMIT_SCALE; a project may set its own. */
const KEY_PER_MINUTE = 3_000
/** A third of a minute's allowance may come within 10 seconds: 1,000 of 3,000. */
const BURST_SHARE = 3
/** Losing sessions falsifies crash rates, so they are stopped only when something is badly wrong (ingest.md §7.3). */
const SESSION_FACTOR = 20
/** Per client address; many phones share one behind carrier NAT. */
const ADDRESS_PER_MINUTE = 12_000
const MOST_ADDRESSES = 50_000
const WINDOW_SECONDS = 60
const BURST_SECONDS = 10

/**
 * Who may send how much. Kept in memory of one process; a shared implementation has to fit the same calls.
 * Every call takes before it judges, refused quantities are not counted.
 */
export type RateLimiter = {
  /**
   * Takes one item of a category.
   * @param perMinute the project's own limit, null for the default
   * @returns 0 when it may pass, else whole seconds until it is worth trying again
   */
  takeItem(keyId: string, category: Category, perMinute?: number | null): number
  /** Takes one request of a client address. @returns as {@link RateLimiter.takeItem}, 5 to 10 seconds when refused */
  takeAddress(address: string): number
}

export type LimiterOptions = {
  /** RATE_LIMIT_SCALE: multiplies every limit; 0 switches them off. */
  readonly scale: number
  /** Whether clients on this machine are exempt from the limit per address (relaxed mode). */
  readonly loopbackExempt: boolean
  readonly nowMs: () => number
}

export function createRateLimiter({ scale, loopbackExempt, nowMs }: LimiterOptions): RateLimiter {
  const keys = new Map<string, Map<Category, SlidingWindow>>()
  const addresses = new Map<string, SlidingWindow>()
  let sweptAtMs = nowMs()
  let refused = 0

  const sweep = (ms: number): void => {
    if (ms - sweptAtMs < WINDOW_SECONDS * 1000) return
    sweptAtMs = ms
    const second = Math.floor(ms / 1000)
    for (const [address, window] of addresses) if (window.isEmpty(second)) addresses.delete(address)
    for (const [keyId, categories] of keys) {
      for (const [category, window] of categories) if (window.isEmpty(second)) categories.delete(category)
      if (categories.size === 0) keys.delete(keyId)
    }
  }

  return {
    takeItem(keyId, category, perMinute) {
      if (scale === 0 || category === 'internal') return 0
      const ms = nowMs()
      sweep(ms)
      let categories = keys.get(keyId)
      if (categories === undefined) keys.set(keyId, (categories = new Map<Category, SlidingWindow>()))
      let window = categories.get(category)
      if (window === undefined) categories.set(category, (window = new SlidingWindow()))
      const most = (perMinute ?? KEY_PER_MINUTE) * scale * (category === 'session' ? SESSION_FACTOR : 1)
      return window.take(Math.floor(ms / 1000), atLeastOne(most), atLeastOne(most / BURST_SHARE))
    },
    takeAddress(address) {
      if (scale === 0 || (loopbackExempt && isLoopback(address))) return 0
      const ms = nowMs()
      sweep(ms)
      const network = networkOf(address)
      let window = addresses.get(network)
      if (window === undefined) {
        for (const oldest of addresses.keys()) {
          if (addresses.size < MOST_ADDRESSES) break
          addresses.delete(oldest)
        }
        addresses.set(network, (window = new SlidingWindow()))
      }
      const most = atLeastOne(ADDRESS_PER_MINUTE * scale)
      const seconds = window.take(Math.floor(ms / 1000), most, most)
      // Spread out, or all phones behind the address come back in the same second.
      return seconds === 0 ? 0 : 5 + (refused++ % 6)
    },
  }
}

const atLeastOne = (limit: number): number => Math.max(1, Math.floor(limit))

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

/** One IPv6 customer owns a /64 at least; counting single addresses would count nothing. */
function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':')
}

/** Counts by second over the last minute, exact to a second. */
class SlidingWindow {
  readonly #counts = new Uint32Array(WINDOW_SECONDS)
  #second = 0
  #total = 0

  /** Takes one. @returns 0, or in how many seconds there is room again */
  take(second: number, perMinute: number, perBurst: number): number {
    this.#moveTo(second)
    const burst = this.#sumOf(BURST_SECONDS)
    if (this.#total < perMinute && burst < perBurst) {
      const slot = second % WINDOW_SECONDS
      this.#counts[slot] = (this.#counts[slot] ?? 0) + 1
      this.#total++
      return 0
    }
    return Math.max(
      this.#roomIn(WINDOW_SECONDS, this.#total - perMinute),
      this.#roomIn(BURST_SECONDS, burst - perBurst),
    )
  }

  isEmpty(second: number): boolean {
    this.#moveTo(second)
    return this.#total === 0
  }

  #moveTo(second: number): void {
    if (second <= this.#second) return
    const steps = Math.min(second - this.#second, WINDOW_SECONDS)
    for (let step = 1; step <= steps; step++) {
      const slot = (second - steps + step) % WINDOW_SECONDS
      this.#total -= this.#counts[slot] ?? 0
      this.#counts[slot] = 0
    }
    this.#second = second
  }

  #sumOf(seconds: number): number {
    let sum = 0
    for (let back = 0; back < seconds; back++) sum += this.#at(back)
    return sum
  }

  #at(back: number): number {
    return this.#counts[(this.#second - back + WINDOW_SECONDS) % WINDOW_SECONDS] ?? 0
  }

  /** Seconds until more than `excess` have left the last `seconds`; 0 when there is room already. */
  #roomIn(seconds: number, excess: number): number {
    if (excess < 0) return 0
    let left = excess
    for (let back = seconds - 1; back >= 0; back--) {
      left -= this.#at(back)
      if (left < 0) return seconds - back
    }
    return seconds
  }
}
