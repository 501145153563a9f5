import type { SeverityName } from '#shared/issue-values.ts'
import type { AlertMessage } from '../rules/alert-message.ts'
import { alertDetails, alertExplanation, alertHeadline, alertStateLine, oneLine } from './alert-text.ts'

/**
 * A message for ntfy, published as JSON (https://docs.ntfy.sh/publish/#publish-as-json) to the root of its server. A text of
 * more than 4,096 bytes would become a file.
 */

const MAX_TITLE = 200
const MAX_BYTES = 4_000
const MAX_VALUE = 200

export type NtfyMessage = {
  readonly topic: string
  readonly title: string
  readonly message: string
  readonly priority: 1 | 2 | 3 | 4 | 5
  readonly tags: readonly string[]
  readonly click: string
  readonly actions: readonly { readonly action: 'view'; readonly label: string; readonly url: string }[]
}

const PRIORITIES = { critical: 5, high: 4, medium: 3, low: 2 } as const satisfies Record<SeverityName, number>

/** Pure. */
export function renderNtfy(message: AlertMessage, topic: string): NtfyMessage {
  const { alert, issue } = message.data
  const isFiring = alert.state === 'firing' && !alert.is_test
  const lines = [
    oneLine(alertExplanation(message), 1_500),
    ...(issue === null ? [] : [`${oneLine(issue.short_id, MAX_VALUE)} ${oneLine(issue.title, MAX_VALUE)}`]),
    ...alertDetails(message).map(({ label, text }) => `${label}: ${oneLine(text, MAX_VALUE)}`),
    alertStateLine(message, MAX_VALUE),
  ]
  return {
    topic,
    title: oneLine(alertHeadline(message), MAX_TITLE),
    message: withinBytes(lines.join('\n'), MAX_BYTES),
    priority: isFiring ? PRIORITIES[alert.severity] : 2,
    tags: [alert.is_test ? 'test_tube' : isFiring ? 'rotating_light' : 'white_check_mark'],
    click: alert.url,
    actions: issue === null ? [] : [{ action: 'view', label: 'Open the issue', url: issue.url }],
  }
}

function withinBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text
  const cut = Buffer.from(text).subarray(0, max - 3)
  // Half a character at the end becomes a replacement character.
  return `${cut.toString().replace(/\uFFFD+$/, '')}…`
}

/** `https://ntfy.sh/shop-alerts` → the root of the server, and the topic; null for another form. */
export function parseTopicUrl(url: string): { readonly root: string; readonly topic: string } | null {
  const { origin, pathname } = new URL(url)
  const match = /^(.*)\/([A-Za-z0-9_-]{1,64})\/?$/.exec(pathname)
  return match === null ? null : { root: `${origin}${match[1]}/`, topic: match[2] ?? '' }
}
