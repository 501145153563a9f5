/** Refreshes the session, one tab at a time (Web Lock). A session that ends in one tab ends in all tabs. */

const LOCK = 'faultline-refresh'
const CHANNEL = 'faultline-session'
const REFRESHED_AT = 'faultline.refreshed-at'

type Message = 'ended' | 'left'

const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(CHANNEL)
const onEnd = new Set<(left: boolean) => void>()
let inThisTab: Promise<boolean> | null = null

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
export function refreshSession(refusedAt: number): Promise<boolean> {
  inThisTab ??= underLock(async () => {
    if (refreshedAt() > refusedAt) return true
    try {
      const response = await fetch('/api/auth/refresh', { method: 'POST', credentials: 'same-origin' })
      if (response.ok) storeRefresh()
      // A busy or restarting server does not end the session.
      return response.status !== 401 && response.status !== 403
    } catch {
      return true
    }
  }).finally(() => {
    inThisTab = null
  })
  return inThisTab
}

/** Web Locks need a secure context. Over plain http, tabs may refresh at the same time, which the server allows. */
function underLock(work: () => Promise<boolean>): Promise<boolean> {
  const locks: LockManager | undefined = navigator.locks
  return locks === undefined ? work() : locks.request(LOCK, work)
}

/** Ends the session in all tabs. @param left true after a log-out, false for an expired session */
export function endSession(left = false): void {
  channel?.postMessage((left ? 'left' : 'ended') satisfies Message)
  for (const listener of onEnd) listener(left)
}

/** Calls the listener when the session ends, in any tab. Returns a function that removes it. */
export function onSessionEnd(listener: (left: boolean) => void): () => void {
  onEnd.add(listener)
  return () => onEnd.delete(listener)
}

channel?.addEventListener('message', (event: MessageEvent<unknown>) => {
  if (event.data === 'ended' || event.data === 'left') for (const listener of onEnd) listener(event.data === 'left')
})
