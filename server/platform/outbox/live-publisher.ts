import type { App } from '../context/app.ts'
import { publishLive } from '../live/publish.ts'
import type { Channel } from './channel.ts'

/** Between two messages to an organisation. */
const INTERVAL_MS = 1_000

export type LivePublisher = {
  /** Deliveries of a lane changed. */
  changed(channel: Channel, orgId: string, laneId: string): void
  close(): void
}

/** Publishes that deliveries changed: the first change of an organisation at once, the others at most once a second. */
export function createLivePublisher(app: App): LivePublisher {
  const waiting = new Map<string, Map<Channel, Set<string>>>()
  /** Until the next message of the organisation. */
  const timers = new Map<string, NodeJS.Timeout>()

  const send = (orgId: string): void => {
    const byChannel = waiting.get(orgId)
    waiting.delete(orgId)
    if (byChannel === undefined) return void timers.delete(orgId)
    const messages = [...byChannel].flatMap(([channel, laneIds]) => channel.live?.([...laneIds]) ?? [])
    // A lost message costs freshness.
    publishLive(
      app.db,
      messages.map((message) => ({ orgId, message })),
    ).catch(() => {})
    timers.set(
      orgId,
      setTimeout(() => send(orgId), INTERVAL_MS),
    )
  }

  return {
    changed(channel, orgId, laneId) {
      if (channel.live === undefined) return
      const byChannel = waiting.get(orgId) ?? new Map<Channel, Set<string>>()
      waiting.set(orgId, byChannel)
      const laneIds = byChannel.get(channel) ?? new Set()
      byChannel.set(channel, laneIds.add(laneId))
      if (timers.has(orgId)) return
      // After what else changes now.
      timers.set(
        orgId,
        setTimeout(() => send(orgId), 0),
      )
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}
