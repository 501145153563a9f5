import ipaddr from 'ipaddr.js'
import type { Category } from '../protocol/categories.ts'
import { SlidingWindow } from './sliding-window.ts'

/** Per project key and category, before RATE_LIMIT_SCALE; a project may set its own. */
export const KEY_PER_MINUTE = 3_000
/** A third of a minute's allowance may come within 10 seconds: 1,000 of 3,000. */
const BURST_SHARE = 3
/**
 * Sessions: losing them falsifies crash rates, so they are stopped only when something is badly wrong (docs/protocol.md §5.2).
 * Entries of containers: one screen makes dozens of spans and log lines where it makes one error (docs/decisions/rate-limits.md).
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

/** Who may send how much. A refused quantity is not counted. */
export type RateLimiter = {
  /**
   * Takes an item of a category, or a container of so many.
   * @param perMinute the project's own limit, null for the default
   * @returns 0 when it may pass, else whole seconds until it is worth trying again
   */
  takeItem(keyId: string, category: Category, perMinute?: number | null, quantity?: number): number
  /** How long the next item of the category would have to wait, whole seconds; takes nothing. */
  waitOf(keyId: string, category: Category, perMinute?: number | null): number
  /** How much of the allowance is used: 1 is all of it. Takes nothing. */
  fillOf(keyId: string, category: Category, perMinute?: number | null): number
  /** Takes one request of a client address. @returns as {@link RateLimiter.takeItem}, 5 to 10 seconds when refused */
  takeAddress(address: string): number
  /** Counts the usage of another process under the shared name. */
  addForeign(name: string, quantity: number): void
}

export type LimiterOptions = {
  /** RATE_LIMIT_SCALE: multiplies every limit; 0 switches them off. */
  readonly scale: number
  /** Whether clients on this machine are exempt from the limit per address (relaxed mode). */
  readonly loopbackExempt: boolean
  readonly nowMs: () => number
  /** Receives all usage, with the maximum of 10 seconds, so that other processes count it too. */
  readonly tell?: (name: string, quantity: number, perBurst: number) => void
}

export function createRateLimiter({ scale, loopbackExempt, nowMs, tell }: LimiterOptions): RateLimiter {
  /** `<key id>/<category>` → window. */
  const keys = new Map<string, SlidingWindow>()
  const addresses = new Map<string, SlidingWindow>()
  let sweptAtMs = nowMs()
  let refused = 0

  /** The second it is; sweeps now and then, so ask before looking a window up. */
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
      const [most, burst] = limitsOf(category, perMinute, scale)
      const now = second()
      const wait = windowOf(name).take(now, quantity, most, burst)
      if (wait === 0) tell?.(name, quantity, burst)
      return wait
    },
    waitOf(keyId, category, perMinute) {
      if (isFree(category)) return 0
      const now = second()
      return keys.get(`${keyId}/${category}`)?.wait(now, ...limitsOf(category, perMinute, scale)) ?? 0
    },
    fillOf(keyId, category, perMinute) {
      if (isFree(category)) return 0
      const now = second()
      return keys.get(`${keyId}/${category}`)?.fill(now, ...limitsOf(category, perMinute, scale)) ?? 0
    },
    takeAddress(address) {
      if (scale === 0 || (loopbackExempt && isLoopback(address))) return 0
      const network = networkOf(address)
      const most = atLeastOne(ADDRESS_PER_MINUTE * scale)
      const now = second()
      const wait = addressWindow(network).take(now, 1, most, most)
      if (wait === 0) tell?.(`${ADDRESS_PREFIX}${network}`, 1, most)
      // Spread out, or all phones behind the address come back in the same second.
      return wait === 0 ? 0 : 5 + (refused++ % 6)
    },
    addForeign(name, quantity) {
      const now = second()
      const window = name.startsWith(ADDRESS_PREFIX) ? addressWindow(name.slice(ADDRESS_PREFIX.length)) : windowOf(name)
      window.add(now, quantity)
    },
  }
}

/** What a key may send of a category in a minute and in ten seconds. */
export function limitsOf(
  category: Category,
  perMinute: number | null | undefined,
  scale: number,
): [perMinute: number, perBurst: number] {
  const most = (perMinute ?? KEY_PER_MINUTE) * scale * (ALLOWANCE[category] ?? 1)
  return [atLeastOne(most), atLeastOne(most / BURST_SHARE)]
}

const ADDRESS_PREFIX = 'address '

const atLeastOne = (limit: number): number => Math.max(1, Math.floor(limit))

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

/** One IPv6 customer owns a /64 at least; counting single addresses would count nothing. */
function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':')
}
