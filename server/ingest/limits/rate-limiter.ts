import ipaddr from 'ipaddr.js'
import type { Category } from '../../events/protocol/envelope.ts'

/** Per project key and category, before RATE_LIMIT_SCALE; a project may set its own. */
export const KEY_PER_MINUTE = 3_000
/** A third of a minute's allowance may come within 10 seconds: 1,000 of 3,000. */
const BURST_SHARE = 3
/**
 * Sessions: losing them falsifies crash rates, so their limit is far above normal use (docs/protocol.md §5.2). Entries
 * of containers: a screen that sends one error sends dozens of spans and log lines (docs/decisions/rate-limits.md).
 */
const ALLOWANCE: Readonly<Partial<Record<Category, number>>> = {
  session: 20,
  span: 10,
  log_item: 10,
  trace_metric: 10,
}
/** Per client address; many phones share one behind carrier NAT. */
const ADDRESS_PER_MINUTE = 12_000
const MAX_ADDRESSES = 50_000
const SWEEP_EVERY_MS = 60_000

/** Rate limits per key and category, and per client address. A refused quantity is not counted. */
export type RateLimiter = {
  /**
   * Takes an item of a category, or a container of `quantity` items.
   * @param perMinute the project's own limit, null for the default
   * @returns 0 when it may pass, else whole seconds to wait
   */
  takeItem(keyId: string, category: Category, perMinute?: number | null, quantity?: number): number
  /** Whole seconds until the next item of the category may pass; takes nothing. */
  waitOf(keyId: string, category: Category, perMinute?: number | null): number
  /** The used share of the limit: 1 is all of it. Takes nothing. */
  fillOf(keyId: string, category: Category, perMinute?: number | null): number
  /** Takes one request of a client address. @returns as {@link RateLimiter.takeItem}, 5 to 10 seconds when refused */
  takeAddress(address: string): number
  /** Counts the usage that another process reported with `onTaken`. */
  addForeign(name: string, quantity: number): void
}

type LimiterOptions = {
  /** RATE_LIMIT_SCALE: multiplies every limit; 0 switches them off. */
  readonly scale: number
  /** Whether clients on this machine are exempt from the limit per address (relaxed mode). */
  readonly loopbackExempt: boolean
  readonly nowMs: () => number
  /** Receives the name and quantity of all usage and its limit of 10 seconds, so that other processes count it too. */
  readonly onTaken?: (name: string, quantity: number, perBurst: number) => void
}

export function createRateLimiter({ scale, loopbackExempt, nowMs, onTaken }: LimiterOptions): RateLimiter {
  /** `<key id>/<category>` → window. */
  const keys = new Map<string, SlidingWindow>()
  const addresses = new Map<string, SlidingWindow>()
  let sweptAtMs = nowMs()
  let refused = 0

  /** The current second. Removes empty windows once a minute, so call it before looking up a window. */
  const second = (): number => {
    const ms = nowMs()
    const now = Math.floor(ms / 1000)
    if (ms - sweptAtMs >= SWEEP_EVERY_MS) {
      sweptAtMs = ms
      for (const windows of [addresses, keys])
        for (const [name, window] of windows) if (window.isEmpty(now)) windows.delete(name)
    }
    return now
  }

  const windowOf = (name: string): SlidingWindow => {
    let window = keys.get(name)
    if (window === undefined) keys.set(name, (window = new SlidingWindow()))
    return window
  }

  const addressWindow = (network: string): SlidingWindow => {
    let window = addresses.get(network)
    if (window !== undefined) return window
    for (const oldest of addresses.keys()) {
      if (addresses.size < MAX_ADDRESSES) break
      addresses.delete(oldest)
    }
    addresses.set(network, (window = new SlidingWindow()))
    return window
  }

  const isFree = (category: Category): boolean => scale === 0 || category === 'internal'

  return {
    takeItem(keyId, category, perMinute, quantity = 1) {
      if (isFree(category)) return 0
      const name = `${keyId}/${category}`
      const [max, burst] = computeRateLimits(category, perMinute, scale)
      const now = second()
      const wait = windowOf(name).take(now, quantity, max, burst)
      if (wait === 0) onTaken?.(name, quantity, burst)
      return wait
    },
    waitOf(keyId, category, perMinute) {
      if (isFree(category)) return 0
      const now = second()
      return keys.get(`${keyId}/${category}`)?.wait(now, ...computeRateLimits(category, perMinute, scale)) ?? 0
    },
    fillOf(keyId, category, perMinute) {
      if (isFree(category)) return 0
      const now = second()
      return keys.get(`${keyId}/${category}`)?.fill(now, ...computeRateLimits(category, perMinute, scale)) ?? 0
    },
    takeAddress(address) {
      if (scale === 0 || (loopbackExempt && isLoopback(address))) return 0
      const network = networkOf(address)
      const max = atLeastOne(ADDRESS_PER_MINUTE * scale)
      const now = second()
      const wait = addressWindow(network).take(now, 1, max, max)
      if (wait === 0) onTaken?.(`${ADDRESS_PREFIX}${network}`, 1, max)
      // Spread out, so that the phones behind one address do not all retry in the same second.
      return wait === 0 ? 0 : 5 + (refused++ % 6)
    },
    addForeign(name, quantity) {
      const now = second()
      const window = name.startsWith(ADDRESS_PREFIX) ? addressWindow(name.slice(ADDRESS_PREFIX.length)) : windowOf(name)
      window.add(now, quantity)
    },
  }
}

/** The limits of a key and category for a minute and for ten seconds. */
export function computeRateLimits(
  category: Category,
  perMinute: number | null | undefined,
  scale: number,
): [perMinute: number, perBurst: number] {
  const max = (perMinute ?? KEY_PER_MINUTE) * scale * (ALLOWANCE[category] ?? 1)
  return [atLeastOne(max), atLeastOne(max / BURST_SHARE)]
}

const ADDRESS_PREFIX = 'address '

const atLeastOne = (limit: number): number => Math.max(1, Math.floor(limit))

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

/** An IPv6 customer has at least a /64, so a limit per single address would have no effect. */
function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':')
}

const WINDOW_SECONDS = 60
const BURST_SECONDS = 10

/** Counts by second over the last minute, exact to a second. */
class SlidingWindow {
  readonly #counts = new Uint32Array(WINDOW_SECONDS)
  #second = 0
  #total = 0

  /**
   * Takes the whole quantity if there is room for one: a container may hold more than a burst allows and would otherwise
   * never pass. Later items wait longer instead.
   * @returns 0, or the seconds until there is room; then nothing was taken
   */
  take(second: number, quantity: number, perMinute: number, perBurst: number): number {
    this.#moveTo(second)
    const wait = this.#wait(perMinute, perBurst)
    if (wait === 0) this.#count(second, quantity)
    return wait
  }

  /** Counts usage of another process. */
  add(second: number, quantity: number): void {
    this.#moveTo(second)
    this.#count(second, quantity)
  }

  /** Seconds until there is room for one. */
  wait(second: number, perMinute: number, perBurst: number): number {
    this.#moveTo(second)
    return this.#wait(perMinute, perBurst)
  }

  /** The used share of the fuller window; 1 is full. */
  fill(second: number, perMinute: number, perBurst: number): number {
    this.#moveTo(second)
    return Math.max(this.#total / perMinute, this.#sumOf(BURST_SECONDS) / perBurst)
  }

  isEmpty(second: number): boolean {
    this.#moveTo(second)
    return this.#total === 0
  }

  #count(second: number, quantity: number): void {
    // When the clock was set back, this counts in the latest second it had reached.
    const slot = Math.max(second, this.#second) % WINDOW_SECONDS
    this.#counts[slot] = (this.#counts[slot] ?? 0) + quantity
    this.#total += quantity
  }

  #wait(perMinute: number, perBurst: number): number {
    const burst = this.#sumOf(BURST_SECONDS)
    if (this.#total < perMinute && burst < perBurst) return 0
    return Math.max(
      this.#roomIn(WINDOW_SECONDS, this.#total - perMinute),
      this.#roomIn(BURST_SECONDS, burst - perBurst),
    )
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
