import type { AlertMessage } from '../rules/alert-message.ts'
import {
  alertDetails,
  alertExplanation,
  alertHeadline,
  describeAlertState,
  SEVERITY_COLOURS,
  oneLine,
  shortened,
} from './alert-text.ts'

/**
 * A message of a Discord webhook (https://docs.discord.com/developers/resources/webhook#execute-webhook): one embed within
 * its limits, of 6,000 characters together. `allowed_mentions` without entries: no text notifies a user, a role or everyone.
 */

const MAX_TITLE = 256
const MAX_DESCRIPTION = 2_000
const MAX_NAME = 100
const MAX_VALUE = 256

export type DiscordMessage = {
  readonly embeds: readonly [
    {
      readonly title: string
      readonly url: string
      readonly description: string
      readonly color: number
      readonly fields: readonly { readonly name: string; readonly value: string; readonly inline: boolean }[]
      readonly footer: { readonly text: string }
      readonly timestamp: string
    },
  ]
  readonly allowed_mentions: { readonly parse: readonly [] }
}

/** Pure. */
export function renderDiscord(message: AlertMessage): DiscordMessage {
  const { alert, issue } = message.data
  const state = describeAlertState(message)
  const link = issue === null ? '' : `\n[${escapeMarkdown(oneLine(issue.short_id, MAX_NAME))}](${issue.url})`
  const about = issue === null ? '' : ` ${fitted(oneLine(issue.title, MAX_VALUE), MAX_VALUE)}`
  return {
    embeds: [
      {
        title: fitted(alertHeadline(message), MAX_TITLE) || '–',
        url: alert.url,
        description: `${fitted(alertExplanation(message), MAX_DESCRIPTION)}${link}${about}`,
        color: SEVERITY_COLOURS[alert.severity],
        fields: alertDetails(message).map(({ label, text }) => ({
          name: label.slice(0, MAX_NAME),
          // Discord refuses empty values.
          value: fitted(text, MAX_VALUE) || '–',
          inline: true,
        })),
        footer: { text: oneLine(state.text, MAX_VALUE) },
        timestamp: state.at,
      },
    ],
    allowed_mentions: { parse: [] },
  }
}

/** In one line, escaped, at most `max` with the escapes. */
function fitted(text: string, max: number): string {
  const line = oneLine(text, max)
  const escaped = escapeMarkdown(line)
  return escaped.length <= max ? escaped : escapeMarkdown(shortened(line, max >> 1))
}

/** Every character that can begin Markdown, a mention or a link is shown as it is. */
export const escapeMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_~|<>[\]()#@:-]/g, (character) => `\\${character}`)
