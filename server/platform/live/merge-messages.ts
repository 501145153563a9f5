import type { LiveMessage } from './live.api.ts'

/** Messages of one key are merged. */
export const messageMergeKey = (message: LiveMessage): string =>
  'project_id' in message ? `${message.kind}/${message.project_id}` : message.kind

/** Two messages of one key as one; an empty list of ids means "too many to name" and stays empty. */
export function mergedMessage(a: LiveMessage, b: LiveMessage): LiveMessage {
  if (a.kind === 'releases' && b.kind === 'releases')
    return { ...a, release_ids: mergedIds(a.release_ids, b.release_ids) }
  if (a.kind === 'webhooks' && b.kind === 'webhooks')
    return { ...a, endpoint_ids: mergedIds(a.endpoint_ids, b.endpoint_ids) }
  if (a.kind === 'alerts' && b.kind === 'alerts') return { ...a, ids: mergedIds(a.ids, b.ids) }
  if (a.kind !== 'issues' || b.kind !== 'issues') return b
  return {
    ...a,
    issue_ids: mergedIds(a.issue_ids, b.issue_ids),
    new_issue_ids: [...new Set([...a.new_issue_ids, ...b.new_issue_ids])],
    event_count: a.event_count + b.event_count,
  }
}

const mergedIds = (a: readonly string[], b: readonly string[]): string[] =>
  a.length === 0 || b.length === 0 ? [] : [...new Set([...a, ...b])]
