import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import type { LiveMessage } from '../../server/live/live.api.ts'
import { call } from './call.ts'

/**
 * The one stream of changes, `GET /api/live`. Outside React: messages are gathered and handed out once per frame, so
 * that a storm of events costs the page one render. A hidden tab hangs up and reads again when it returns.
 */

export type { LiveMessage }

/** connecting: nothing known yet. live. trying: cut since `since`, retried. paused: the tab is hidden. */
export type LiveState =
  | { name: 'connecting' | 'live' | 'paused' }
  | { name: 'trying'; since: number; nextTryAt: number }

const KINDS = ['issues', 'releases', 'project', 'inbox'] as const
const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000

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

/** Only what the contract names is believed; anything else is left alone. */
function parse(kind: (typeof KINDS)[number], text: string): LiveMessage | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return null
    // The stream sends each person only news of their own.
    if (kind === 'inbox') return { kind, user_ids: [] }
    if (!('project_id' in value) || typeof value.project_id !== 'string') return null
    const { project_id } = value
    if (kind === 'project') return { kind, project_id }
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
    // Whatever happened while nobody listened is read again.
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
    const wait = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures)
    failures += 1
    const since = state.name === 'trying' ? state.since : Date.now()
    setState({ name: 'trying', since, nextTryAt: Date.now() + wait })
    retryTimer = setTimeout(() => void retry(), wait)
  })
}

/** An ordinary read first: it refreshes an expired session, and sends a person without one to log in. */
async function retry(): Promise<void> {
  try {
    await call('GET /api/me')
  } catch {
    // Still away: the attempt below fails too and plans the next.
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

/** Opens the stream; call what it returns to hang up. Once, by the shell. */
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

/** Tries at once instead of waiting. */
export function retryLive(): void {
  if (state.name === 'trying') void retry()
}

const subscribeState = (listener: () => void): (() => void) => {
  stateListeners.add(listener)
  return () => stateListeners.delete(listener)
}

export const useLiveState = (): LiveState => useSyncExternalStore(subscribeState, () => state)

/** Hands over the changes of each frame; `onReturn` after a cut or a hidden tab, when everything may have changed. */
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

/** How often to ask while the stream is away: pass to `refetchInterval`. */
export function usePolling(intervalMs: number): number | false {
  return useLiveState().name === 'trying' ? intervalMs : false
}
