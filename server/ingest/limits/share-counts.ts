import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { publish } from '../../platform/storage/bus.ts'

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
        app.log.debug({ err: error instanceof Error ? error.message : String(error) }, 'counts not shared')
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
