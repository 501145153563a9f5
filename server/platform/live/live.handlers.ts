import { z } from 'zod'
import type { Permission } from '#shared/permissions.ts'
import { isGranted, memberBehind, type OrgActor } from '../context/actor.ts'
import type { Handlers } from '../context/handlers.ts'
import type { LiveMessage, liveRoutes } from './live.api.ts'
import { mergedMessage, messageMergeKey } from './merge-messages.ts'
import { type OpenStream, registerStream } from './open-streams.ts'
import { EVERY_ORG, LIVE_TOPIC } from './publish.ts'
import { parseEnvelope, recentMessages } from './recent-messages.ts'

const SessionEnd = z.object({ session_id: z.string().optional(), user_id: z.string().optional() })
const KeyEnd = z.object({ key_id: z.string() })

/**
 * Messages that arrive within this time are merged and sent together. Batches of digestion may find new releases one
 * after the other, and every message makes a dashboard read its releases again.
 */
const FLUSH_MS = {
  issues: 250,
  project: 250,
  inbox: 250,
  releases: 1_000,
  webhooks: 1_000,
  alerts: 250,
  canary: 250,
  symbols: 1000,
  feedback: 1_000,
} as const

export const liveHandlers: Handlers<typeof liveRoutes> = {
  streamLive: (app, actor, call) => {
    const stream = call.openStream()
    const userId = memberBehind(actor)?.userId ?? null
    const holder = holderOf(actor)
    if (stream.signal.aborted) return Promise.resolve()
    const open: OpenStream = {
      holder,
      orgId: actor.orgId,
      usedAtMs: app.clock.monotonicMs(),
      end: () => stream.end(),
    }
    const unregister = registerStream(app, open)
    const waiting = new Map<string, LiveMessage>()
    const timers = new Set<NodeJS.Timeout>()

    const sendLater = (key: string, kind: LiveMessage['kind']): void => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        open.usedAtMs = app.clock.monotonicMs()
        stream.send(kind, waiting.get(key))
        waiting.delete(key)
      }, FLUSH_MS[kind])
      timers.add(timer)
    }
    stream.send(
      'recent',
      recentMessages(app)(actor.orgId, (message) => forActor(message, actor)),
    )
    const stop = app.bus.on(LIVE_TOPIC, (payload) => {
      const sent = parseEnvelope(payload)
      if (sent === null || (sent.orgId !== actor.orgId && sent.orgId !== EVERY_ORG)) return
      const message = forActor(sent.message, actor)
      if (message === null) return
      const key = messageMergeKey(message)
      const earlier = waiting.get(key)
      waiting.set(key, earlier === undefined ? message : mergedMessage(earlier, message))
      if (earlier === undefined) sendLater(key, message.kind)
    })
    // A member who was logged out, or whose role changed, must not receive further messages.
    const stopSessions = app.bus.on('session', (payload) => {
      const ended = SessionEnd.safeParse(payload)
      if (ended.success && (ended.data.session_id === holder || ended.data.user_id === userId)) stream.end()
    })
    const stopKeys = app.bus.on('api-key', (payload) => {
      const ended = KeyEnd.safeParse(payload)
      if (ended.success && ended.data.key_id === holder) stream.end()
    })
    // Messages were lost, perhaps the end of this session among them: connecting again checks it and refetches.
    const stopGaps = app.bus.onGap(() => stream.end())
    stream.signal.addEventListener('abort', () => {
      unregister()
      stop()
      stopSessions()
      stopKeys()
      stopGaps()
      for (const timer of timers) clearTimeout(timer)
    })
    return Promise.resolve()
  },
}

/** Id of the session or API key that bounds and ends a stream. */
function holderOf(actor: OrgActor): string {
  if (actor.kind === 'user' && actor.sessionId !== null) return actor.sessionId
  return actor.kind === 'api_key' ? actor.keyId : actor.orgId
}

const NEEDS: Readonly<Record<LiveMessage['kind'], Exclude<Permission, 'public'>>> = {
  issues: 'issues.read',
  project: 'projects.read',
  releases: 'releases.read',
  inbox: 'self',
  webhooks: 'webhooks.read',
  alerts: 'alerts.read',
  canary: 'alerts.read',
  symbols: 'uploads.read',
  feedback: 'issues.read',
}

/** The part of a message that this actor may receive; null for nothing. */
function forActor(message: LiveMessage, actor: OrgActor): LiveMessage | null {
  if (!isGranted(NEEDS[message.kind], actor)) return null
  if (message.kind !== 'inbox') return message
  const userId = memberBehind(actor)?.userId
  return userId !== undefined && message.user_ids.includes(userId) ? { ...message, user_ids: [userId] } : null
}
