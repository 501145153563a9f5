import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../context/app.ts'
import { publish } from '../storage/bus.ts'

const TOPIC = 'rates'
/** A process without messages for this long counts as stopped; each sends one at this interval. */
const PEER_MS = 15_000
const HELLO_EVERY_MS = 5_000
/** Usage below the immediate share is sent with the next message. */
const TELL_ALL_EVERY_MS = 1_000
/** Between two messages of one process. */
const MIN_DISTANCE_MS = 20
/** What a process keeps from all others together, at most: a fortieth of what may come in ten seconds. */
const UNTOLD_SHARE = 40
/** A smaller share of a limit within a second is not sent: a thousand phones must not cause a thousand messages. */
const MIN_TOLD_SHARE = 1_000
/** A message must stay below 8,000 bytes. */
const MAX_COUNTS_PER_MESSAGE = 100

const Message = z.object({
  from: z.string(),
  /** `hello` asks those who did not know the sender to say hello, too. */
  kind: z.enum(['counts', 'hello', 'bye']),
  counts: z.array(z.tuple([z.string().max(100), z.int().min(1)])).optional(),
})

export type CountSharing = {
  /** Counts something the other processes should know of; costs nothing while there are none. */
  tell(name: string, quantity: number, perBurst: number): void
  /** How many other processes are known. */
  peers(): number
  close(): Promise<void>
}

/**
 * Lets all ingest processes of a database count together (docs/decisions/rate-limits.md). Each judges by its own memory and tells the
 * others over the bus what it took, soon when that is a noticeable share of a limit and within a second otherwise. A
 * lost message makes a limit a little wider for a minute, nothing else.
 * @param add is called with what others took
 */
export function createCountSharing(app: App, add: (name: string, quantity: number) => void): CountSharing {
  const me = randomUUID()
  const peers = new Map<string, number>()
  let untold = new Map<string, { sum: number; readonly perBurst: number }>()
  let sending: Promise<void> = Promise.resolve()
  let isTelling = false
  let soon: NodeJS.Timeout | undefined
  let toldAtMs = Number.NEGATIVE_INFINITY
  let closed = false

  const send = (messages: readonly z.input<typeof Message>[]): Promise<void> => {
    toldAtMs = performance.now()
    sending = sending.then(async () => {
      try {
        for (const message of messages) await publish(app.db, TOPIC, message)
      } catch (error) {
        // The database is away: no process accepts anything at the moment.
        app.log.debug({ err: error instanceof Error ? error.message : String(error) }, 'counts not told')
      }
    })
    return sending
  }
  const hello = (): void => void send([{ from: me, kind: 'hello' }])

  const tellAll = (): void => {
    clearTimeout(soon)
    soon = undefined
    // While the database is slow sums go on growing, not messages.
    if (untold.size === 0 || isTelling) return
    const counts: [string, number][] = []
    for (const [name, { sum, perBurst }] of untold) if (sum * MIN_TOLD_SHARE >= perBurst) counts.push([name, sum])
    untold = new Map()
    const messages: z.input<typeof Message>[] = []
    for (let at = 0; at < counts.length; at += MAX_COUNTS_PER_MESSAGE)
      messages.push({ from: me, kind: 'counts', counts: counts.slice(at, at + MAX_COUNTS_PER_MESSAGE) })
    if (messages.length === 0) return
    isTelling = true
    void send(messages).finally(() => {
      isTelling = false
    })
  }

  const stops = [
    app.bus.on(TOPIC, (payload) => {
      const parsed = Message.safeParse(payload)
      if (!parsed.success || parsed.data.from === me || closed) return
      const { from, kind, counts } = parsed.data
      if (kind === 'bye') {
        peers.delete(from)
        if (peers.size === 0) untold.clear()
        return
      }
      const isNew = !peers.has(from)
      peers.set(from, performance.now())
      if (isNew) hello()
      for (const [name, quantity] of counts ?? []) add(name, quantity)
    }),
    app.bus.onGap(hello),
  ]
  const telling = setInterval(tellAll, TELL_ALL_EVERY_MS)
  const greeting = setInterval(() => {
    const nowMs = performance.now()
    for (const [id, heardMs] of peers) if (nowMs - heardMs > PEER_MS) peers.delete(id)
    if (peers.size > 0) hello()
    else untold.clear()
  }, HELLO_EVERY_MS)
  telling.unref()
  greeting.unref()
  hello()

  return {
    tell(name, quantity, perBurst) {
      if (peers.size === 0) return
      const known = untold.get(name)
      const sum = (known?.sum ?? 0) + quantity
      if (known === undefined) untold.set(name, { sum, perBurst })
      else known.sum = sum
      if (sum * UNTOLD_SHARE * peers.size < perBurst || soon !== undefined) return
      soon = setTimeout(tellAll, Math.max(0, toldAtMs + MIN_DISTANCE_MS - performance.now()))
    },
    peers: () => peers.size,
    async close() {
      closed = true
      for (const stop of stops) stop()
      clearInterval(telling)
      clearInterval(greeting)
      clearTimeout(soon)
      await send([{ from: me, kind: 'bye' }])
    },
  }
}
