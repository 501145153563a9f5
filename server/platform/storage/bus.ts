import pg from 'pg'
import { withinGrace } from '../kernel/abortable.ts'
import type { Connection } from './database.ts'
import { readJsonText } from '../kernel/json.api.ts'

/**
 * Messages between processes and threads through PostgreSQL NOTIFY, for cache invalidation and live messages.
 * A lost message costs freshness, never data.
 */
export type Bus = {
  /** Calls the listener for every message of a topic; returns a function that removes it. */
  on(topic: string, listener: (payload: unknown) => void): () => void
  /** Called after a lost connection was restored: caches may be stale. */
  onGap(listener: () => void): () => void
  close(): Promise<void>
}

const CHANNEL = 'faultline_bus'
/** A dead connection may report nothing: it is queried at this interval and closed if it does not answer. */
const CHECK_INTERVAL_MS = 15_000
const ANSWER_TIMEOUT_MS = 5_000
const CLOSE_TIMEOUT_MS = 1_000
/** PostgreSQL refuses payloads of 8,000 bytes and more. */
const MAX_BYTES = 7_900

/**
 * Sends messages to every process; inside a transaction when it commits.
 * @throws Error when a payload is too large for one message
 */
export async function publish(on: Connection, topic: string, ...payloads: readonly unknown[]): Promise<void> {
  const texts = payloads.map((payload) => JSON.stringify([topic, payload]))
  if (texts.some((text) => Buffer.byteLength(text) > MAX_BYTES)) throw new Error(`bus message on ${topic} is too large`)
  await on.query('select pg_notify($1, message) from unnest($2::text[]) message', [CHANNEL, texts])
}

/** Opens one listening connection and keeps it open, reconnecting with growing delays of 0.1 to 5 s. */
export async function openBus(connectionString: string, onError: (error: Error) => void): Promise<Bus> {
  const listeners = new Map<string, Set<(payload: unknown) => void>>()
  const gapListeners = new Set<() => void>()
  let client: pg.Client | null = null
  /** Not listening yet. */
  let connecting: pg.Client | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let delayMs = 100

  const connect = async (): Promise<void> => {
    const next = new pg.Client({
      connectionString,
      application_name: 'faultline bus',
      keepAlive: true,
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    })
    connecting = next
    next.on('error', (error) => {
      if (!closed) onError(error)
    })
    next.on('end', () => {
      // A failed attempt to connect reports its own error.
      if (client !== next) return
      client = null
      reconnectLater()
    })
    next.on('notification', (message) => deliver(message.payload ?? ''))
    try {
      await next.connect()
      await next.query(`listen ${CHANNEL}`)
    } catch (error) {
      next.connection.stream.destroy()
      throw error
    } finally {
      connecting = null
    }
    if (closed) return void next.connection.stream.destroy()
    client = next
    delayMs = 100
  }

  const reconnectLater = (): void => {
    if (timer !== undefined || closed) return
    timer = setTimeout(() => {
      timer = undefined
      connect().then(
        () => {
          if (closed) return
          for (const listener of gapListeners) listener()
        },
        (error: unknown) => {
          if (closed) return
          onError(error instanceof Error ? error : new Error(String(error)))
          reconnectLater()
        },
      )
    }, delayMs)
    delayMs = Math.min(delayMs * 2, 5_000)
  }

  const deliver = (text: string): void => {
    const parsed = readJsonText(text)
    if (!Array.isArray(parsed) || typeof parsed[0] !== 'string') return
    for (const listener of listeners.get(parsed[0]) ?? []) listener(parsed[1])
  }

  const check = setInterval(() => {
    const checked = client
    if (checked === null) return
    // Destroying the socket emits `end`, which reconnects.
    const timeout = setTimeout(() => checked.connection.stream.destroy(), ANSWER_TIMEOUT_MS)
    timeout.unref()
    checked.query('select 1').then(
      () => clearTimeout(timeout),
      () => clearTimeout(timeout),
    )
  }, CHECK_INTERVAL_MS)
  check.unref()

  try {
    await connect()
  } catch (error) {
    closed = true
    clearTimeout(timer)
    clearInterval(check)
    throw error
  }
  return {
    on(topic, listener) {
      const set = listeners.get(topic) ?? new Set()
      listeners.set(topic, set)
      set.add(listener)
      return () => void set.delete(listener)
    },
    onGap(listener) {
      gapListeners.add(listener)
      return () => void gapListeners.delete(listener)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      clearInterval(check)
      connecting?.connection.stream.destroy()
      const open = client
      client = null
      // Ending a connection over a broken network never finishes.
      if (open !== null && !(await withinGrace(CLOSE_TIMEOUT_MS, open.end()))) open.connection.stream.destroy()
    },
  }
}
