import type { AlertMessage } from '../rules/alert-message.ts'
import {
  alertDetails,
  alertExplanation,
  alertHeadline,
  alertStateLine,
  oneLine,
  SEVERITY_COLOURS,
  shortened,
} from './alert-text.ts'

/**
 * A message of an incoming webhook of Mattermost (https://developers.mattermost.com/integrate/webhooks/incoming/): one
 * attachment. A post takes 16,383 characters.
 */

const MAX_TITLE = 300
const MAX_TEXT = 4_000
const MAX_VALUE = 500

export type MattermostMessage = {
  readonly attachments: readonly [
    {
      readonly fallback: string
      readonly color: string
      readonly title: string
      readonly title_link: string
      readonly text: string
      readonly fields: readonly { readonly title: string; readonly value: string; readonly short: boolean }[]
      readonly footer: string
    },
  ]
}

/** Pure. */
export function renderMattermost(message: AlertMessage): MattermostMessage {
  const { alert, issue } = message.data
  const headline = alertHeadline(message)
  const about =
    issue === null
      ? ''
      : `\n[${literally(oneLine(issue.short_id, MAX_VALUE))}](${issue.url}) ${literally(oneLine(issue.title, MAX_TITLE))}`
  return {
    attachments: [
      {
        fallback: literally(oneLine(headline, MAX_TITLE)),
        color: `#${SEVERITY_COLOURS[alert.severity].toString(16)}`,
        title: literally(oneLine(headline, MAX_TITLE)),
        title_link: alert.url,
        text: `${literally(shortened(oneLine(alertExplanation(message), MAX_TEXT), MAX_TEXT))}${about}`,
        fields: alertDetails(message).map(({ label, text }) => ({
          title: label,
          value: literally(oneLine(text, MAX_VALUE)),
          short: true,
        })),
        footer: alertStateLine(message, MAX_VALUE),
      },
    ],
  }
}

/**
 * Markdown as it is written. A zero-width space after `@`, `~` and `:` keeps names, channels and emojis from being found:
 * Mattermost has no escape for them.
 */
const literally = (text: string): string =>
  text.replaceAll(/[\\`*_|<>[\]()#!-]/g, (character) => `\\${character}`).replaceAll(/[@~:]/g, '$&\u200b')
