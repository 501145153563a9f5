import { z } from 'zod'
import type { App } from '../context/app.ts'
import type { Tx } from '../storage/database.ts'
import { publish } from '../storage/bus.ts'
import { readLiveSession, type LiveSession } from './auth.queries.ts'
import { perApp } from './per-app.ts'

/** Whose sessions changed: one, or all of a user. */
export type SessionChange = { readonly session_id: string } | { readonly user_id: string }

const Change = z.union([z.object({ session_id: z.string() }), z.object({ user_id: z.string() })])

const TOPIC = 'session'
const LIFE_MS = 5_000
/** Beyond, the whole memory is dropped rather than grown. */
const MOST_KEPT = 20_000

const caches = perApp((app) => {
  const kept = new Map<string, { session: LiveSession; readAtMs: number }>()
  const cache = { kept, generation: 0 }
  app.bus.on(TOPIC, (payload) => {
    const change = Change.safeParse(payload)
    if (change.success) drop(cache, change.data)
  })
  app.bus.onGap(() => {
    cache.generation++
    kept.clear()
  })
  return cache
})

function drop(cache: ReturnType<typeof caches>, change: SessionChange): void {
  cache.generation++
  if ('session_id' in change) {
    cache.kept.delete(change.session_id)
    return
  }
  for (const [id, { session }] of cache.kept) if (session.userId === change.user_id) cache.kept.delete(id)
}

/** @returns null when the session has ended or its user is disabled or gone */
export async function liveSession(app: App, sessionId: string): Promise<LiveSession | null> {
  const cache = caches(app)
  const nowMs = app.clock.monotonicMs()
  const known = cache.kept.get(sessionId)
  if (known !== undefined && nowMs - known.readAtMs < LIFE_MS) return known.session
  const { generation } = cache
  const session = await readLiveSession(app.db, sessionId)
  if (session === null) {
    cache.kept.delete(sessionId)
    return null
  }
  // What changed while we were reading may not be in what was read: use it this once, do not keep it.
  if (cache.generation === generation) {
    if (cache.kept.size >= MOST_KEPT) cache.kept.clear()
    cache.kept.set(sessionId, { session, readAtMs: nowMs })
  }
  return session
}

/** Tells the other processes with the commit; pair it with {@link forgetSessions} after the commit. */
export const announceSessions = (tx: Tx, change: SessionChange): Promise<void> => publish(tx, TOPIC, change)

/** Drops what this process remembers, at once. */
export const forgetSessions = (app: App, change: SessionChange): void => drop(caches(app), change)
