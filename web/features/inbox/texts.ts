/** Texts of the inbox. */

const whole = new Intl.NumberFormat('en-GB')

export const inboxTexts = {
  inbox: 'Inbox',
  inboxUnread: (count: number) => `Inbox, ${whole.format(count)} unread`,
  openInbox: 'Open the inbox',
  markAll: 'Mark all as read',
  markFailed: 'Could not mark it as read.',
  inboxEmpty: 'Nothing yet',
  inboxEmptyText: 'What is assigned to you, mentions you, or happens to issues you follow.',
  unread: 'Unread',
  more: 'Show older',
} as const
