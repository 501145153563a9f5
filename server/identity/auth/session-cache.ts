import { z } from 'zod'
import { type App, perApp } from '../../platform/context/app.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { publish } from '../../platform/storage/bus.ts'
import { readLiveSession, type LiveSession } from './auth.queries.ts'

/** The sessions that changed: one, or all of a user. */
type SessionChange = { readonly session_id: string } | { readonly user_id: string }

const Change = z.union([z.object({ session_id: z.string() }), z.object({ user_id: z.string() })])

const TOPIC = 'session'
const LIFE_MS = 5_000
/** Above this number the whole cache is dropped. */
const MAX_CACHED = 20_000

const caches = perApp((app) => {
  const sessions = new Map<string, { session: LiveSession; readAtMs: number }>()
  const cache = { sessions, generation: 0 }
  app.bus.on(TOPIC, (payload) => {
    const change = Change.safeParse(payload)
    if (change.success) drop(cache, change.data)
  })
  app.bus.onGap(() => {
    cache.generation++
    sessions.clear()
  })
  return cache
})

function drop(cache: ReturnType<typeof caches>, change: SessionChange): void {
  cache.generation++
  if ('session_id' in change) {
    cache.sessions.delete(change.session_id)
    return
  }
  for (const [id, { session }] of cache.sessions) if (session.userId === change.user_id) cache.sessions.delete(id)
}

/** @returns null when the session has ended, or its membership or user is disabled or deleted */
export async function liveSession(app: App, sessionId: string): Promise<LiveSession | null> {
  const cache = caches(app)
  const nowMs = app.clock.monotonicMs()
  const known = cache.sessions.get(sessionId)
  if (known !== undefined && nowMs - known.readAtMs < LIFE_MS) return known.session
  const { generation } = cache
  const session = await readLiveSession(app.db, sessionId)
  if (session === null) {
    cache.sessions.delete(sessionId)
    return null
  }
  // A change during the read may be missing in the result: use the result once, do not cache it.
  if (cache.generation === generation) {
    if (cache.sessions.size >= MAX_CACHED) cache.sessions.clear()
    cache.sessions.set(sessionId, { session, readAtMs: nowMs })
  }
  return session
}

/** Notifies the other processes with the commit. Call {@link dropCachedSessions} after the commit. */
export const announceSessions = (tx: Tx, change: SessionChange): Promise<void> => publish(tx, TOPIC, change)

/** Drops the cached sessions of this process. */
export const dropCachedSessions = (app: App, change: SessionChange): void => drop(caches(app), change)
