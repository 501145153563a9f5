import { formatCount } from '../../../ui/format.ts'

/** Texts of the panel behind the bell: alerts, and the inbox of the member. */

export const inboxTexts = {
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
