import { formatCount } from '../../../ui/format.ts'
/** Texts of the bell: alerts, and the inbox of the member. */

export const inboxTexts = {
  notifications: 'Notifications',
  bell: (firing: number, unread: number) =>
    [
      'Notifications',
      ...(firing === 0 ? [] : [firing === 1 ? '1 alert firing' : `${formatCount(firing)} alerts firing`]),
      ...(unread === 0 ? [] : [`${formatCount(unread)} unread for you`]),
    ].join(', '),
  openBell: 'Open notifications',
  alerts: 'Alerts',
  forYou: 'For you',
  unreadCount: (count: number) => `${formatCount(count)} unread`,
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
