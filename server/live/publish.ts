import type { Connection } from '../storage/database.ts'
import { publish } from '../storage/bus.ts'
import type { LiveMessage } from './live.api.ts'

/** Bus topic of live messages: `[organisation id, message]`. */
export const LIVE_TOPIC = 'live'

/** More ids than this are not named: the listener refetches what it shows. 36 characters each must fit one message. */
export const MAX_IDS = 80

/** Sends a message to open dashboards: inside a transaction when it commits. */
export const publishLive = (on: Connection, orgId: string, message: LiveMessage): Promise<void> =>
  publish(on, LIVE_TOPIC, [orgId, bounded(message)])

function bounded(message: LiveMessage): LiveMessage {
  // Further members see their notifications at the next refetch; a caller that notifies more members publishes several messages.
  if (message.kind === 'inbox') return { ...message, user_ids: message.user_ids.slice(0, MAX_IDS) }
  if (message.kind === 'releases') return { ...message, release_ids: named(message.release_ids) }
  if (message.kind !== 'issues') return message
  return {
    ...message,
    issue_ids: named(message.issue_ids),
    new_issue_ids: message.new_issue_ids.slice(0, MAX_IDS),
  }
}

const named = (ids: string[]): string[] => (ids.length > MAX_IDS ? [] : ids)
