import type { AlertMessage } from '../rules/alert-message.ts'
import { alertDetails, alertExplanation, alertHeadline, oneLine, shortened, alertStateLine } from './alert-text.ts'

/**
 * An Adaptive Card 1.4 in the envelope of a Teams workflow, which takes at most 28 kB. Texts of others are in runs, which
 * show every character as it is; other texts of a card are Markdown.
 */

const MAX_TITLE = 300
const MAX_EXPLANATION = 2_000
const MAX_DETAIL = 200

type TextRun = {
  readonly type: 'TextRun'
  readonly text: string
  readonly weight?: 'Bolder'
  readonly size?: 'Large'
  readonly isSubtle?: true
}
type RichText = {
  readonly type: 'RichTextBlock'
  readonly inlines: readonly TextRun[]
  readonly spacing?: 'None' | 'Medium'
}
type OpenUrl = { readonly type: 'Action.OpenUrl'; readonly title: string; readonly url: string }

export type AdaptiveCard = {
  readonly $schema: string
  readonly type: 'AdaptiveCard'
  readonly version: '1.4'
  readonly fallbackText: string
  readonly body: readonly RichText[]
  readonly actions: readonly OpenUrl[]
  readonly msteams: { readonly width: 'Full' }
}

export type TeamchatMessage = {
  readonly type: 'message'
  readonly attachments: readonly [
    {
      readonly contentType: 'application/vnd.microsoft.card.adaptive'
      readonly contentUrl: null
      readonly content: AdaptiveCard
    },
  ]
}

/** Pure. */
export const renderTeamchat = (message: AlertMessage): TeamchatMessage => ({
  type: 'message',
  attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: cardOf(message) }],
})

function cardOf(message: AlertMessage): AdaptiveCard {
  const { alert, issue } = message.data
  const headline = oneLine(alertHeadline(message), MAX_TITLE)
  const details = [
    ...(issue === null ? [] : [{ label: 'Issue', text: `${issue.short_id} ${issue.title}` }]),
    ...alertDetails(message),
  ]
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: headline,
    body: [
      { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: headline, size: 'Large', weight: 'Bolder' }] },
      {
        type: 'RichTextBlock',
        inlines: [
          {
            type: 'TextRun',
            text: shortened(alertExplanation(message).replaceAll(/[^\P{Cc}\n]|\p{Cs}/gu, ' '), MAX_EXPLANATION),
          },
        ],
      },
      ...details.map(({ label, text }, index): RichText => ({
        type: 'RichTextBlock',
        spacing: index === 0 ? 'Medium' : 'None',
        inlines: [
          { type: 'TextRun', text: `${label}: `, weight: 'Bolder' },
          { type: 'TextRun', text: oneLine(text, MAX_DETAIL) },
        ],
      })),
      {
        type: 'RichTextBlock',
        spacing: 'Medium',
        inlines: [
          {
            type: 'TextRun',
            text: alertStateLine(message, MAX_DETAIL),
            isSubtle: true,
          },
        ],
      },
    ],
    actions: [
      { type: 'Action.OpenUrl', title: alert.is_test ? 'Open the rule' : 'Open the alert', url: alert.url },
      ...(issue === null ? [] : [{ type: 'Action.OpenUrl' as const, title: 'Open the issue', url: issue.url }]),
    ],
    msteams: { width: 'Full' },
  }
}
