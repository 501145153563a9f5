/** The buttons of chat messages: what a message carries, and what comes back when a member presses one. */

export const CHAT_BUTTONS = ['acknowledge', 'resolve', 'ignore', 'assign_to_me'] as const
export type ChatButton = (typeof CHAT_BUTTONS)[number]

/** Without an issue there is nothing to ignore or assign. */
export const BUTTONS_WITHOUT_ISSUE = ['acknowledge', 'resolve'] as const satisfies readonly ChatButton[]

/** `block_id` of the buttons. */
export const BUTTONS_BLOCK_ID = 'alert_buttons'

/** `action_id` of the button that opens the alert: a link, which the chat reports too and which needs no answer. */
export const OPEN_ACTION_ID = 'alert_open'

/** `action_id` of a button. Its `value` is the id of the alert. */
export const buttonActionId = (button: ChatButton): string => `alert_${button}`

export const findChatButton = (actionId: string): ChatButton | undefined =>
  CHAT_BUTTONS.find((button) => buttonActionId(button) === actionId)
