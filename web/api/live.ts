import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import type { LiveMessage } from '../../server/live/live.api.ts'
import { call } from './call.ts'

/**
 * The live stream, `GET /api/live`. Messages are delivered once per frame, so that many of them cause one render. A
 * hidden tab closes the stream; when it is visible again, its queries are refetched.
 */

export type { LiveMessage }

/** connecting: first attempt. trying: disconnected since `since`, retrying. paused: the tab is hidden. */
export type LiveState =
  | { name: 'connecting' | 'live' | 'paused' }
  | { name: 'trying'; since: number; nextTryAt: number }

const KINDS = ['issues', 'releases', 'project', 'inbox', 'webhooks', 'canary', 'alerts'] as const
const FIRST_RETRY_MS = 1000
const MAX_RETRY_MS = 30_000

let state: LiveState = { name: 'connecting' }
let source: EventSource | null = null
let retryTimer: ReturnType<typeof setTimeout> | undefined
let failures = 0
let frame = 0
let waiting: LiveMessage[] = []
const stateListeners = new Set<() => void>()
const listeners = new Set<(messages: readonly LiveMessage[]) => void>()
const returnListeners = new Set<() => void>()

function setState(next: LiveState): void {
  state = next
  for (const listener of stateListeners) listener()
}

function take(message: LiveMessage): void {
  waiting.push(message)
  if (frame !== 0) return
  frame = requestAnimationFrame(() => {
    frame = 0
    const batch = waiting
    waiting = []
    for (const listener of listeners) listener(batch)
  })
}

/** Null for messages that are not in the contract. */
function parse(kind: (typeof KINDS)[number], text: string): LiveMessage | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return null
    // A user receives only messages about their own inbox.
    if (kind === 'inbox') return { kind, user_ids: [] }
    if (kind === 'canary') return { kind }
    if (kind === 'webhooks') return { kind, endpoint_ids: 'endpoint_ids' in value ? stringsOf(value.endpoint_ids) : [] }
    if (!('project_id' in value) || typeof value.project_id !== 'string') return null
    const { project_id } = value
    if (kind === 'project') return { kind, project_id }
    if (kind === 'alerts') return { kind, project_id, ids: 'ids' in value ? stringsOf(value.ids) : [] }
    if (kind === 'releases')
      return { kind, project_id, release_ids: 'release_ids' in value ? stringsOf(value.release_ids) : [] }
    return {
      kind,
      project_id,
      issue_ids: 'issue_ids' in value ? stringsOf(value.issue_ids) : [],
      new_issue_ids: 'new_issue_ids' in value ? stringsOf(value.new_issue_ids) : [],
      event_count: 'event_count' in value && typeof value.event_count === 'number' ? value.event_count : 0,
    }
  } catch {
    return null
  }
}

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []

function connect(): void {
  clearTimeout(retryTimer)
  source?.close()
  const stream = new EventSource('/api/live')
  source = stream
  stream.addEventListener('open', () => {
    // Messages were missed while disconnected, so everything is refetched.
    const wasCut = state.name === 'trying'
    failures = 0
    setState({ name: 'live' })
    if (wasCut) for (const listener of returnListeners) listener()
  })
  for (const kind of KINDS) {
    stream.addEventListener(kind, (event: MessageEvent<unknown>) => {
      const message = typeof event.data === 'string' ? parse(kind, event.data) : null
      if (message !== null) take(message)
    })
  }
  stream.addEventListener('error', () => {
    // The browser's own retry gives up on a 401 and on a restarting server; ours does not.
    stream.close()
    if (source !== stream) return
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
    setState({ name: 'paused' })
    return
  }
  failures = 0
  connect()
  for (const listener of returnListeners) listener()
}

/** Opens the stream, once for the whole dashboard. Returns a function that closes it. */
export function startLive(): () => void {
  document.addEventListener('visibilitychange', followVisibility)
  if (document.hidden) setState({ name: 'paused' })
  else connect()
  return () => {
    document.removeEventListener('visibilitychange', followVisibility)
    clearTimeout(retryTimer)
    source?.close()
    source = null
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
