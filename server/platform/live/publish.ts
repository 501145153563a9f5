import type { Connection } from '../storage/database.ts'
import { publish } from '../storage/bus.ts'
import type { LiveMessage } from './live.api.ts'

/** Bus topic of live messages: `[organisation id, message]`. */
export const LIVE_TOPIC = 'live'

/** A message names at most this number of ids, of 36 characters each; dashboards refetch all they show when there are more. */
export const MAX_IDS = 80

/** Stands for all organisations. */
export const EVERY_ORG = '*'

/** A message for the members of one organisation, or of {@link EVERY_ORG}. */
export type OrgMessage = { readonly orgId: string; readonly message: LiveMessage }

/** Publishes messages to open dashboards by one statement; inside a transaction, when it commits. */
export const publishLive = (on: Connection, messages: readonly OrgMessage[]): Promise<void> =>
  publish(on, LIVE_TOPIC, ...messages.map(({ orgId, message }) => [orgId, bounded(message)]))

/** Messages that the inboxes of these users changed. */
export function inboxMessages(orgId: string, userIds: readonly string[]): OrgMessage[] {
  const ids = [...new Set(userIds)]
  return Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, index) => ({
    orgId,
    message: { kind: 'inbox', user_ids: ids.slice(index * MAX_IDS, (index + 1) * MAX_IDS) },
  }))
}

/** The message with as many ids as fit. */
export function bounded(message: LiveMessage): LiveMessage {
  // A caller that notifies more members publishes several messages.
  if (message.kind === 'inbox') return { ...message, user_ids: message.user_ids.slice(0, MAX_IDS) }
  if (message.kind === 'releases') return { ...message, release_ids: named(message.release_ids) }
  if (message.kind === 'webhooks') return { ...message, endpoint_ids: named(message.endpoint_ids) }
  if (message.kind === 'alerts') return { ...message, ids: named(message.ids) }
  if (message.kind !== 'issues') return message
  return {
    ...message,
    issue_ids: named(message.issue_ids),
    new_issue_ids: message.new_issue_ids.slice(0, MAX_IDS),
  }
}

const named = (ids: string[]): string[] => (ids.length > MAX_IDS ? [] : ids)
