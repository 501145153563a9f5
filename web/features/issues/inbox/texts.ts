/** Texts of the bell: alerts, and the inbox of the member. */

const whole = new Intl.NumberFormat('en-GB')

export const inboxTexts = {
  notifications: 'Notifications',
  bell: (firing: number, unread: number) =>
    [
      'Notifications',
      ...(firing === 0 ? [] : [firing === 1 ? '1 alert firing' : `${whole.format(firing)} alerts firing`]),
      ...(unread === 0 ? [] : [`${whole.format(unread)} unread for you`]),
    ].join(', '),
  openBell: 'Open notifications',
  alerts: 'Alerts',
  forYou: 'For you',
  unreadCount: (count: number) => `${whole.format(count)} unread`,
  noAlerts: 'No alerts',
  noAlertsText: 'Alerts from your rules appear here.',
  allAlerts: 'All alerts',
  acknowledgedBy: (name: string) => `acknowledged by ${name}`,

  inbox: 'Inbox',
  markAll: 'Mark all as read',
  markFailed: 'Could not mark notifications as read.',
  inboxEmpty: 'No notifications',
  inboxEmptyText: 'Assignments, mentions and updates on issues you follow appear here.',
  unread: 'Unread',
  more: 'Show older',
} as const
