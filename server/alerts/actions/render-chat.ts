import type { AlertMessage } from '../rules/alert-message.ts'
import { alertDetails, alertExplanation, alertHeadline, oneLine, describeAlertState } from './alert-text.ts'
import {
  buttonActionId,
  BUTTONS_BLOCK_ID,
  BUTTONS_WITHOUT_ISSUE,
  CHAT_BUTTONS,
  type ChatButton,
  OPEN_ACTION_ID,
} from './chat-buttons.ts'

/** A message of a Slack-compatible chat. Limits are those of Slack's blocks, in UTF-16 units. */

const MAX_HEADER = 150
const MAX_SECTION = 3_000
const MAX_FIELD = 2_000
const MAX_BUTTON_TEXT = 75
const MAX_TITLE = 300

type PlainText = { readonly type: 'plain_text'; readonly text: string; readonly emoji: false }
/** `verbatim`: the chat looks for no names, addresses and mentions of its own in the text. */
type Markdown = { readonly type: 'mrkdwn'; readonly text: string; readonly verbatim: true }

type Button = {
  readonly type: 'button'
  readonly action_id: string
  readonly text: PlainText
  readonly value?: string
  readonly url?: string
  readonly style?: 'primary'
}

export type ChatBlock =
  | { readonly type: 'header'; readonly text: PlainText }
  | { readonly type: 'section'; readonly text: Markdown }
  | { readonly type: 'section'; readonly fields: readonly Markdown[] }
  | { readonly type: 'context'; readonly elements: readonly Markdown[] }
  | { readonly type: 'actions'; readonly block_id: string; readonly elements: readonly Button[] }

export type ChatMessage = {
  /** The text of the notification. */
  readonly text: string
  readonly blocks: readonly ChatBlock[]
  readonly unfurl_links: false
  readonly unfurl_media: false
}

/** Renders what is true of the alert now: a message that has been acted upon is replaced by a new one. Pure. */
export function renderChat(message: AlertMessage): ChatMessage {
  const { alert, issue } = message.data
  const headline = alertHeadline(message)
  const state = describeAlertState(message)
  return {
    text: escaped(`${oneLine(headline, MAX_TITLE)} (${oneLine(message.data.project.name, MAX_HEADER)})`, MAX_SECTION),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(headline, MAX_HEADER) },
      ...section(escaped(alertExplanation(message), MAX_SECTION)),
      ...(issue === null ? [] : section(issueLine(issue))),
      {
        type: 'section',
        fields: alertDetails(message).map(({ label, text }) =>
          markdown(`*${label}*\n${escaped(oneLine(text, MAX_FIELD), MAX_FIELD / 2)}`),
        ),
      },
      {
        type: 'context',
        elements: [markdown(`${escaped(oneLine(state.text, MAX_TITLE), MAX_FIELD)} ${time(state.at)}`)],
      },
      {
        type: 'actions',
        block_id: BUTTONS_BLOCK_ID,
        elements: [
          ...buttonsOf(message).map((button): Button => ({
            type: 'button',
            action_id: buttonActionId(button),
            text: plain(BUTTON_TEXTS[button], MAX_BUTTON_TEXT),
            value: alert.id,
            ...(button === 'acknowledge' ? { style: 'primary' } : {}),
          })),
          {
            type: 'button',
            action_id: OPEN_ACTION_ID,
            text: plain(alert.is_test ? 'Open the rule' : 'Open the alert', MAX_BUTTON_TEXT),
            url: alert.url,
          },
        ],
      },
    ],
  }
}

const BUTTON_TEXTS: Readonly<Record<ChatButton, string>> = {
  acknowledge: 'Acknowledge',
  resolve: 'Resolve',
  ignore: 'Ignore',
  assign_to_me: 'Assign to me',
}

/** Buttons for what can still be done about the alert. A test is about nothing, and a summary about many alerts. */
function buttonsOf({ data: { alert, issue, summary } }: AlertMessage): readonly ChatButton[] {
  if (alert.is_test || summary !== undefined) return []
  const all: readonly ChatButton[] = issue === null ? BUTTONS_WITHOUT_ISSUE : CHAT_BUTTONS
  if (alert.state === 'firing') return all
  return alert.state === 'acknowledged' ? all.filter((button) => button !== 'acknowledge') : []
}

const issueLine = ({ url, short_id: id, title, culprit }: NonNullable<AlertMessage['data']['issue']>): string =>
  `<${url}|${escaped(id, MAX_HEADER)}> ${escaped(oneLine(title, MAX_TITLE), MAX_SECTION / 3)}\n${escaped(oneLine(culprit, MAX_TITLE), MAX_SECTION / 3)}`.trim()

const section = (text: string): ChatBlock[] => (text === '' ? [] : [{ type: 'section', text: markdown(text) }])

const markdown = (text: string): Markdown => ({ type: 'mrkdwn', text, verbatim: true })

const plain = (text: string, max: number): PlainText => ({
  type: 'plain_text',
  text: oneLine(text, max) || '–',
  emoji: false,
})

/** Shown in the zone of the reader. */
function time(iso: string): string {
  const seconds = Math.floor(Date.parse(iso) / 1_000)
  return `<!date^${seconds}^{date_short_pretty} at {time}|${iso.slice(0, 16).replace('T', ' ')} UTC>`
}

const ENTITIES: Readonly<Partial<Record<string, string>>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Text that can hold neither links nor mentions, shortened so that it fits with its entities. */
function escaped(text: string, max: number): string {
  let made = ''
  for (const character of text.replaceAll(/[^\P{Cc}\n]|\p{Cs}/gu, ' ').trim()) {
    const next = ENTITIES[character] ?? character
    if (made.length + next.length > max - 1) return `${made}…`
    made += next
  }
  return made
}
