import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

/** How the user who is logged in is notified outside the dashboard, in this organisation. */

export type NotificationPreferences = AnswerOf<'GET /api/me/notifications'>
export type PushDevice = AnswerOf<'GET /api/notifications/devices'>['items'][number]

export const preferencesQuery = queryOptions({
  queryKey: ['notifications', 'preferences'],
  queryFn: ({ signal }) => call('GET /api/me/notifications', { signal }),
})

export const pushDevicesQuery = queryOptions({
  queryKey: ['notifications', 'devices'],
  queryFn: ({ signal }) => call('GET /api/notifications/devices', { signal }),
})
