/**
 * Keeping a session alive across tabs. One tab refreshes at a time (Web Lock), the others hear of it; a session that
 * ends in one tab ends in all.
 */

const LOCK = 'faultline-refresh'
const CHANNEL = 'faultline-session'
const REFRESHED_AT = 'faultline.refreshed-at'

type Word = 'ended' | 'left'

const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(CHANNEL)
const onEnd = new Set<(left: boolean) => void>()
let inThisTab: Promise<boolean> | null = null

/** When any tab last refreshed: the store is shared and read under the lock, so no message can be late. */
function refreshedAt(): number {
  try {
    return Number(localStorage.getItem(REFRESHED_AT) ?? 0)
  } catch {
    return 0
  }
}

function noteRefresh(): void {
  try {
    localStorage.setItem(REFRESHED_AT, String(Date.now()))
  } catch {
    // Storage switched off: each tab refreshes for itself.
  }
}

/**
 * Gets a new access token unless some tab did since `refusedAt`, the time the refused call began.
 * Returns whether there is a session still.
 */
export function refreshSession(refusedAt: number): Promise<boolean> {
  inThisTab ??= underLock(async () => {
    if (refreshedAt() > refusedAt) return true
    try {
      const response = await fetch('/api/auth/refresh', { method: 'POST', credentials: 'same-origin' })
      if (response.ok) noteRefresh()
      // A busy or restarting server is no reason to throw a person out.
      return response.status !== 401 && response.status !== 403
    } catch {
      return true
    }
  }).finally(() => {
    inThisTab = null
  })
  return inThisTab
}

/** Locks exist in secure contexts only; on plain http tabs take turns by chance, and the server bears it. */
function underLock(work: () => Promise<boolean>): Promise<boolean> {
  const locks: LockManager | undefined = navigator.locks
  return locks === undefined ? work() : locks.request(LOCK, work)
}

/** Tells every tab that nobody is logged in any more; `left` when somebody logged out, not when the session ran out. */
export function endSession(left = false): void {
  channel?.postMessage((left ? 'left' : 'ended') satisfies Word)
  for (const listener of onEnd) listener(left)
}

/** Called when the session ends here or in another tab. */
export function onSessionEnd(listener: (left: boolean) => void): () => void {
  onEnd.add(listener)
  return () => onEnd.delete(listener)
}

channel?.addEventListener('message', (event: MessageEvent<unknown>) => {
  if (event.data === 'ended' || event.data === 'left') for (const listener of onEnd) listener(event.data === 'left')
})
