import type { QueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { call } from './call.ts'
import { KINDS, missedSince, parseMessage, type LiveMessage } from './live-messages.ts'
import { beginWatch, endWatch, restartReads } from './unwatched.ts'

/**
 * The live stream, `GET /api/live`. Messages are delivered once per frame, so that many of them cause one render. A
 * hidden tab closes the stream; when it is visible again, its queries are refetched. What changed between reading and
 * the opening of the stream is in the stream's first event.
 */

export type { LiveMessage }

/** connecting: first attempt. trying: disconnected since `since`, retrying. paused: the tab is hidden. */
export type LiveState =
  | { name: 'connecting' | 'live' | 'paused' }
  | { name: 'trying'; since: number; nextTryAt: number }

const FIRST_RETRY_MS = 1000
const MAX_RETRY_MS = 30_000

let state: LiveState = { name: 'connecting' }
let source: EventSource | null = null
let retryTimer: ReturnType<typeof setTimeout> | undefined
let failures = 0
let frame = 0
let waiting: LiveMessage[] = []
let client: QueryClient | null = null
const stateListeners = new Set<() => void>()
const listeners = new Set<(messages: readonly LiveMessage[]) => void>()
const returnListeners = new Set<() => void>()

function setState(next: LiveState): void {
  state = next
  for (const listener of stateListeners) listener()
}

function take(...messages: readonly LiveMessage[]): void {
  if (messages.length === 0) return
  waiting.push(...messages)
  if (frame !== 0) return
  frame = requestAnimationFrame(() => {
    frame = 0
    const batch = waiting
    waiting = []
    deliver(batch)
    repeatAfter(firstReads(), () => deliver(batch))
  })
}

function deliver(batch: readonly LiveMessage[]): void {
  for (const listener of listeners) listener(batch)
}

/** Queries on their first read, which may have read before what changed now. Invalidating them does not read again. */
const firstReads = (): Promise<unknown>[] =>
  (client?.getQueryCache().findAll({ fetchStatus: 'fetching' }) ?? []).flatMap(({ state, promise }) =>
    state.status === 'pending' ? (promise ?? []) : [],
  )

function repeatAfter(reads: readonly Promise<unknown>[], work: () => void): void {
  if (reads.length === 0) return
  // Components hear of what was read in a task that is scheduled meanwhile.
  void Promise.allSettled(reads).then(() => setTimeout(() => setTimeout(work)))
}

function connect(): void {
  clearTimeout(retryTimer)
  source?.close()
  endWatch()
  const stream = new EventSource('/api/live')
  source = stream
  let sinceMs: number | null = null
  stream.addEventListener('open', () => {
    // Messages were missed while disconnected, so everything is refetched.
    const wasCut = state.name === 'trying'
    failures = 0
    setState({ name: 'live' })
    const unwatchedSinceMs = beginWatch()
    if (wasCut) readAgain()
    else sinceMs = unwatchedSinceMs
  })
  stream.addEventListener('recent', (event: MessageEvent<unknown>) => {
    const missed = sinceMs === null ? [] : missedSince(sinceMs, performance.now(), event.data)
    if (missed === null) readAgain()
    else take(...missed)
  })
  for (const kind of KINDS) {
    stream.addEventListener(kind, (event: MessageEvent<unknown>) => {
      const message = parseMessage(kind, event.data)
      if (message !== null) take(message)
    })
  }
  stream.addEventListener('error', () => {
    // The browser's own retry gives up on a 401 and on a restarting server; ours does not.
    stream.close()
    if (source !== stream) return
    endWatch()
    const wait = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures)
    failures += 1
    const since = state.name === 'trying' ? state.since : Date.now()
    setState({ name: 'trying', since, nextTryAt: Date.now() + wait })
    retryTimer = setTimeout(() => void retry(), wait)
  })
}

/** Calls the API first: that refreshes an expired session, or leads to the login page. */
async function retry(): Promise<void> {
  try {
    await call('GET /api/me')
  } catch {
    // Still unreachable: the attempt below fails too and schedules the next.
  }
  if (source !== null && !document.hidden) connect()
}

function followVisibility(): void {
  if (document.hidden) {
    clearTimeout(retryTimer)
    source?.close()
    endWatch()
    setState({ name: 'paused' })
    return
  }
  failures = 0
  connect()
  restartReads()
  readAgain()
}

function readAgain(): void {
  const again = () => {
    for (const listener of returnListeners) listener()
  }
  again()
  repeatAfter(firstReads(), again)
}

/** Opens the stream, once for the whole dashboard. Returns a function that closes it. */
export function startLive(queries: QueryClient): () => void {
  client = queries
  document.addEventListener('visibilitychange', followVisibility)
  if (document.hidden) setState({ name: 'paused' })
  else connect()
  return () => {
    document.removeEventListener('visibilitychange', followVisibility)
    clearTimeout(retryTimer)
    source?.close()
    source = null
    endWatch()
    failures = 0
    setState({ name: 'connecting' })
  }
}

/** Reconnects immediately. */
export function retryLive(): void {
  if (state.name === 'trying') void retry()
}

const subscribeState = (listener: () => void): (() => void) => {
  stateListeners.add(listener)
  return () => stateListeners.delete(listener)
}

export const useLiveState = (): LiveState => useSyncExternalStore(subscribeState, () => state)

/** Receives the messages of each frame. `onReturn` runs after a disconnection, when anything may have changed. */
export function useLive(onMessages: (messages: readonly LiveMessage[]) => void, onReturn?: () => void): void {
  const hear = useEffectEvent(onMessages)
  const back = useEffectEvent(() => onReturn?.())
  useEffect(() => {
    const listener = (messages: readonly LiveMessage[]) => hear(messages)
    const returned = () => back()
    listeners.add(listener)
    returnListeners.add(returned)
    return () => {
      listeners.delete(listener)
      returnListeners.delete(returned)
    }
  }, [])
}

/** The `refetchInterval` of a query that is polled while the stream is disconnected. */
export function usePolling(intervalMs: number): number | false {
  return useLiveState().name === 'trying' ? intervalMs : false
}
