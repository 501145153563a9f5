/** Texts of the inbox. */

const whole = new Intl.NumberFormat('en-GB')

export const inboxTexts = {
  inbox: 'Inbox',
  inboxUnread: (count: number) => `Inbox, ${whole.format(count)} unread`,
  openInbox: 'Open the inbox',
  markAll: 'Mark all as read',
  markFailed: 'Could not mark notifications as read.',
  inboxEmpty: 'No notifications',
  inboxEmptyText: 'Assignments, mentions and updates on issues you follow appear here.',
  unread: 'Unread',
  more: 'Show older',
} as const
