import type { LiveMessage } from '../../server/platform/live/live.api.ts'

/** Reads the events of the live stream. */

export type { LiveMessage }

export const KINDS = [
  'issues',
  'releases',
  'project',
  'inbox',
  'webhooks',
  'canary',
  'alerts',
  'symbols',
  'feedback',
] as const
type Kind = (typeof KINDS)[number]

/** The message of an event; null where it is not in the contract. */
export const parseMessage = (kind: Kind, text: unknown): LiveMessage | null => messageOf(kind, parseJson(text))

/**
 * The messages that were published after `sinceMs`, from the first event of the stream, which arrived at `nowMs`; null
 * when it does not reach back so far.
 */
export function missedSince(sinceMs: number, nowMs: number, text: unknown): LiveMessage[] | null {
  const recent = parseJson(text)
  if (typeof recent !== 'object' || recent === null) return null
  if (!('reach_ms' in recent) || typeof recent.reach_ms !== 'number') return null
  // By this clock everything seems younger than it is, by the time of its transport: no message is left out.
  if (nowMs - recent.reach_ms > sinceMs) return null
  if (!('messages' in recent) || !Array.isArray(recent.messages)) return null
  const entries: readonly unknown[] = recent.messages
  return entries.flatMap((entry) => {
    if (typeof entry !== 'object' || entry === null || !('age_ms' in entry) || !('message' in entry)) return []
    const { age_ms, message } = entry
    if (typeof age_ms !== 'number' || nowMs - age_ms < sinceMs) return []
    const kind = KINDS.find((known) => known === kindOf(message))
    return (kind === undefined ? null : messageOf(kind, message)) ?? []
  })
}

const kindOf = (message: unknown): unknown =>
  typeof message === 'object' && message !== null && 'kind' in message ? message.kind : undefined

function parseJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : null
  } catch {
    return null
  }
}

function messageOf(kind: Kind, value: unknown): LiveMessage | null {
  if (typeof value !== 'object' || value === null) return null
  // A user receives only messages about their own inbox.
  if (kind === 'inbox') return { kind, user_ids: [] }
  if (kind === 'canary') return { kind }
  if (kind === 'webhooks') return { kind, endpoint_ids: 'endpoint_ids' in value ? stringsOf(value.endpoint_ids) : [] }
  if (!('project_id' in value) || typeof value.project_id !== 'string') return null
  const { project_id } = value
  if (kind === 'project' || kind === 'symbols' || kind === 'feedback') return { kind, project_id }
  if (kind === 'alerts') return { kind, project_id, ids: 'ids' in value ? stringsOf(value.ids) : [] }
  if (kind === 'releases')
    return { kind, project_id, release_ids: 'release_ids' in value ? stringsOf(value.release_ids) : [] }
  return {
    kind,
    project_id,
    issue_ids: 'issue_ids' in value ? stringsOf(value.issue_ids) : [],
    new_issue_ids: 'new_issue_ids' in value ? stringsOf(value.new_issue_ids) : [],
    event_count: 'event_count' in value && typeof value.event_count === 'number' ? value.event_count : 0,
  }
}

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
