import ipaddr from 'ipaddr.js'
import { errorText } from '../../platform/kernel/errors.ts'
import type { Category } from '../../events/protocol/envelope.ts'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { publish } from '../../platform/storage/bus.ts'

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

const TOPIC = 'rates'
/** A process without messages for this long counts as stopped; each sends one at this interval. */
const PEER_MS = 15_000
const HELLO_EVERY_MS = 5_000
/** Usage below the immediate share is sent with the next message. */
const SHARE_ALL_EVERY_MS = 1_000
/** Minimum time between two messages of one process. */
const MIN_DISTANCE_MS = 20
/** Usage above this share (1/40) of the limit of ten seconds, divided among the other processes, is sent immediately. */
const IMMEDIATE_SHARE = 40
/**
 * Usage below this share (1/1,000) of that limit within a second is never sent: a thousand phones must not cause a
 * thousand messages.
 */
const NEGLIGIBLE_SHARE = 1_000
/** A message must stay below 8,000 bytes. */
const MAX_COUNTS_PER_MESSAGE = 100

const Message = z.object({
  from: z.string(),
  /** A process that receives `hello` from an unknown sender answers with `hello`. */
  kind: z.enum(['counts', 'hello', 'bye']),
  counts: z.array(z.tuple([z.string().max(100), z.int().min(1)])).optional(),
})

export type CountSharing = {
  /** Adds usage to send to the other processes; does nothing while there are none. */
  share(name: string, quantity: number, perBurst: number): void
  /** Number of other processes. */
  peers(): number
  close(): Promise<void>
}

/**
 * Shares usage among all ingest processes of a database (docs/decisions/rate-limits.md). Each process decides by its own
 * counts and sends its usage over the bus: immediately when it is a noticeable share of a limit, within a second
 * otherwise. A lost message only loosens a limit a little for a minute.
 * @param add receives the usage of other processes
 */
export function createCountSharing(app: App, add: (name: string, quantity: number) => void): CountSharing {
  const me = randomUUID()
  const peers = new Map<string, number>()
  let unshared = new Map<string, { sum: number; readonly perBurst: number }>()
  let sending: Promise<void> = Promise.resolve()
  let isSharing = false
  let soon: NodeJS.Timeout | undefined
  let sharedAtMs = Number.NEGATIVE_INFINITY
  let closed = false

  const send = (messages: readonly z.input<typeof Message>[]): Promise<void> => {
    sharedAtMs = performance.now()
    sending = sending.then(async () => {
      try {
        for (const message of messages) await publish(app.db, TOPIC, message)
      } catch (error) {
        // The database is away: no process accepts anything at the moment.
        app.log.debug({ err: errorText(error) }, 'counts not shared')
      }
    })
    return sending
  }
  const hello = (): void => void send([{ from: me, kind: 'hello' }])

  const shareAll = (): void => {
    clearTimeout(soon)
    soon = undefined
    // While the database is slow, usage is added up instead of queueing messages.
    if (unshared.size === 0 || isSharing) return
    const counts: [string, number][] = []
    for (const [name, { sum, perBurst }] of unshared) if (sum * NEGLIGIBLE_SHARE >= perBurst) counts.push([name, sum])
    unshared = new Map()
    const messages: z.input<typeof Message>[] = []
    for (let at = 0; at < counts.length; at += MAX_COUNTS_PER_MESSAGE)
      messages.push({ from: me, kind: 'counts', counts: counts.slice(at, at + MAX_COUNTS_PER_MESSAGE) })
    if (messages.length === 0) return
    isSharing = true
    void send(messages).finally(() => {
      isSharing = false
    })
  }

  const stops = [
    app.bus.on(TOPIC, (payload) => {
      const parsed = Message.safeParse(payload)
      if (!parsed.success || parsed.data.from === me || closed) return
      const { from, kind, counts } = parsed.data
      if (kind === 'bye') {
        peers.delete(from)
        if (peers.size === 0) unshared.clear()
        return
      }
      const isNew = !peers.has(from)
      peers.set(from, performance.now())
      if (isNew) hello()
      for (const [name, quantity] of counts ?? []) add(name, quantity)
    }),
    app.bus.onGap(hello),
  ]
  const shareTimer = setInterval(shareAll, SHARE_ALL_EVERY_MS)
  const helloTimer = setInterval(() => {
    const nowMs = performance.now()
    for (const [id, heardMs] of peers) if (nowMs - heardMs > PEER_MS) peers.delete(id)
    if (peers.size > 0) hello()
    else unshared.clear()
  }, HELLO_EVERY_MS)
  shareTimer.unref()
  helloTimer.unref()
  hello()

  return {
    share(name, quantity, perBurst) {
      if (peers.size === 0) return
      const known = unshared.get(name)
      const sum = (known?.sum ?? 0) + quantity
      if (known === undefined) unshared.set(name, { sum, perBurst })
      else known.sum = sum
      if (sum * IMMEDIATE_SHARE * peers.size < perBurst || soon !== undefined) return
      soon = setTimeout(shareAll, Math.max(0, sharedAtMs + MIN_DISTANCE_MS - performance.now()))
    },
    peers: () => peers.size,
    async close() {
      closed = true
      for (const stop of stops) stop()
      clearInterval(shareTimer)
      clearInterval(helloTimer)
      clearTimeout(soon)
      await send([{ from: me, kind: 'bye' }])
    },
  }
}
