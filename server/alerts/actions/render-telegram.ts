import type { AlertMessage } from '../rules/alert-message.ts'
import { alertDetails, alertExplanation, alertHeadline, alertStateLine, oneLine } from './alert-text.ts'

/**
 * `sendMessage` of Telegram's Bot API (https://core.telegram.org/bots/api#sendmessage): HTML of at most 4,096 characters.
 * Links are in the text: a button refuses addresses that Telegram cannot reach, such as those of a private network.
 */

const MAX_TITLE = 300
const MAX_TEXT = 1_500
const MAX_VALUE = 200

export type TelegramMessage = {
  readonly chat_id: string
  readonly text: string
  readonly parse_mode: 'HTML'
  readonly link_preview_options: { readonly is_disabled: true }
  /** A message about an alert that does not fire any more makes no sound. */
  readonly disable_notification: boolean
}

/** Pure. */
export function renderTelegram(message: AlertMessage, chatId: string): TelegramMessage {
  const { alert, issue } = message.data
  const lines = [
    `<b>${html(alertHeadline(message), MAX_TITLE)}</b>`,
    html(alertExplanation(message), MAX_TEXT),
    '',
    ...(issue === null
      ? []
      : [
          `<a href="${html(issue.url, MAX_TEXT)}">${html(issue.short_id, MAX_VALUE)}</a> ${html(issue.title, MAX_TITLE)}`,
        ]),
    ...alertDetails(message).map(({ label, text }) => `<b>${label}:</b> ${html(text, MAX_VALUE)}`),
    html(alertStateLine(message, MAX_VALUE), MAX_VALUE + 30),
    `<a href="${html(alert.url, MAX_TEXT)}">${alert.is_test ? 'Open the rule' : 'Open the alert'}</a>`,
  ]
  return {
    chat_id: chatId,
    text: lines.join('\n'),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
    disable_notification: alert.state !== 'firing',
  }
}

const ENTITIES: Readonly<Partial<Record<string, string>>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Telegram counts characters after it has read the entities. */
const html = (text: string, max: number): string =>
  oneLine(text, max).replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
