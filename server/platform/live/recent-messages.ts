import { z } from 'zod'
import { type App, perApp } from '../context/app.ts'
import { LiveMessage, type RecentMessages } from './live.api.ts'
import { mergedMessage, messageMergeKey } from './merge-messages.ts'
import { bounded, EVERY_ORG, LIVE_TOPIC, type OrgMessage } from './publish.ts'

/** Longer than a page takes from its first request to the opening of its stream. */
const KEEP_MS = 20_000
const MAX_MESSAGES = 500
/** A client that gets none reads everything again, which costs less than more messages. */
const MAX_ANSWER_BYTES = 64 * 1024

const NOTHING_KNOWN: RecentMessages = { reach_ms: 0, messages: [] }

const Envelope = z.tuple([z.string(), LiveMessage])

/** A message of the bus; null for anything else. */
export function parseEnvelope(payload: unknown): OrgMessage | null {
  const parsed = Envelope.safeParse(payload)
  return parsed.success ? { orgId: parsed.data[0], message: parsed.data[1] } : null
}

type Kept = OrgMessage & { readonly atMs: number }

/**
 * The live messages of the last seconds: a dashboard reads its data before its stream is open, and what changes between
 * the two is in none of them. Call it once before streams open; it listens from then on.
 */
export const recentMessages = perApp((app: App) => {
  let kept: Kept[] = []
  let sinceMs = app.clock.monotonicMs()

  app.bus.on(LIVE_TOPIC, (payload) => {
    const message = parseEnvelope(payload)
    if (message === null) return
    const atMs = app.clock.monotonicMs()
    kept.push({ ...message, atMs })
    const from = Math.max(atMs - KEEP_MS, kept.at(-MAX_MESSAGES - 1)?.atMs ?? 0)
    if (from <= sinceMs) return
    sinceMs = from
    kept = kept.filter((one) => one.atMs > from)
  })
  app.bus.onGap(() => {
    kept = []
    sinceMs = app.clock.monotonicMs()
  })

  /** Messages that an organisation's streams received; `seenBy` returns the part that the reader may see. */
  return (orgId: string, seenBy: (message: LiveMessage) => LiveMessage | null): RecentMessages => {
    const nowMs = app.clock.monotonicMs()
    const fromMs = Math.max(sinceMs, nowMs - KEEP_MS)
    const byKey = new Map<string, { age_ms: number; message: LiveMessage }>()
    for (const { orgId: of, message, atMs } of kept) {
      const seen = atMs > fromMs && (of === orgId || of === EVERY_ORG) ? seenBy(message) : null
      if (seen === null) continue
      const key = messageMergeKey(seen)
      const earlier = byKey.get(key)?.message
      const merged = earlier === undefined ? seen : bounded(mergedMessage(earlier, seen))
      byKey.set(key, { age_ms: Math.floor(nowMs - atMs), message: merged })
    }
    const recent = { reach_ms: Math.floor(nowMs - fromMs), messages: [...byKey.values()] }
    return Buffer.byteLength(JSON.stringify(recent)) > MAX_ANSWER_BYTES ? NOTHING_KNOWN : recent
  }
})
