/** Refreshes the session, one tab at a time (Web Lock). A session that ends in one tab ends in all tabs. */

const LOCK = 'faultline-refresh'
const CHANNEL = 'faultline-session'
const REFRESHED_AT = 'faultline.refreshed-at'
/** Set while a session of this browser is known. */
const KNOWN = 'faultline.session'
/** Why the service ended the session of a refresh token. */
const REASON_HEADER = 'svc-session-ended'

/** How a session ended. */
export type SessionEnd = {
  /** By a log-out. */
  readonly left: boolean
  /** Why the service ended it, as the service names it; null when it expired or there was none. */
  readonly reason: string | null
}

type Renewal = { readonly valid: true } | { readonly valid: false; readonly reason: string | null }
type Message = ({ readonly kind: 'ended' } & SessionEnd) | { readonly kind: 'switched' }

const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(CHANNEL)
const onEnd = new Set<(end: SessionEnd) => void>()
let inThisTab: Promise<Renewal> | null = null

/** When a tab last refreshed the session. Tabs share the storage and read it under the lock. */
function refreshedAt(): number {
  try {
    return Number(localStorage.getItem(REFRESHED_AT) ?? 0)
  } catch {
    return 0
  }
}

function storeRefresh(): void {
  try {
    localStorage.setItem(REFRESHED_AT, String(Date.now()))
  } catch {
    // Without storage, each tab refreshes the session itself.
  }
}

/**
 * Gets a new access token, unless another tab did since `refusedAt`, the start of the refused call.
 * @returns whether the session is still valid
 */
export function refreshSession(refusedAt: number): Promise<Renewal> {
  inThisTab ??= underLock(async (): Promise<Renewal> => {
    if (refreshedAt() > refusedAt) return { valid: true }
    try {
      const response = await fetch('/api/auth/refresh', { method: 'POST', credentials: 'same-origin' })
      if (response.ok) storeRefresh()
      // A busy or restarting server does not end the session.
      if (response.status !== 401 && response.status !== 403) return { valid: true }
      return { valid: false, reason: response.headers.get(REASON_HEADER) }
    } catch {
      return { valid: true }
    }
  }).finally(() => {
    inThisTab = null
  })
  return inThisTab
}

/** Web Locks need a secure context. Over plain http, tabs may refresh at the same time, which the server allows. */
function underLock(work: () => Promise<Renewal>): Promise<Renewal> {
  const locks: LockManager | undefined = navigator.locks
  return locks === undefined ? work() : locks.request(LOCK, work)
}

/** Whether this browser had a session that has not ended. Without one, a page asks for it before it reads anything else. */
export function isSessionKnown(): boolean {
  try {
    return localStorage.getItem(KNOWN) !== null
  } catch {
    return true
  }
}

export function noteSession(isKnown: boolean): void {
  try {
    if (isKnown) localStorage.setItem(KNOWN, 'yes')
    else localStorage.removeItem(KNOWN)
  } catch {
    // Without storage, every page reads at once.
  }
}

/** Ends the session in all tabs. */
export function endSession(end: SessionEnd): void {
  noteSession(false)
  post({ kind: 'ended', ...end })
  for (const listener of onEnd) listener(end)
}

/** Calls the listener when the session ends, in any tab. Returns a function that removes it. */
export function onSessionEnd(listener: (end: SessionEnd) => void): () => void {
  onEnd.add(listener)
  return () => onEnd.delete(listener)
}

/** Loads all tabs from the start: their cookies are those of another organisation now. */
export function enterOtherOrg(): void {
  post({ kind: 'switched' })
  location.assign('/')
}

const post = (message: Message): void => channel?.postMessage(message)

function isMessage(data: unknown): data is Message {
  return typeof data === 'object' && data !== null && 'kind' in data
}

channel?.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  if (!isMessage(data)) return
  if (data.kind === 'switched') location.assign('/')
  else for (const listener of onEnd) listener(data)
})
