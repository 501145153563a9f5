import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id } from '../../platform/kernel/page.api.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import { isTimeZone, WEEKDAYS } from '#shared/quiet-hours.ts'

/** How the caller wants to be notified outside the dashboard. */

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/
const time = (name: string) =>
  z
    .string({ error: `quiet_hours.${name} must be a time such as 22:00.` })
    .regex(TIME, { error: `quiet_hours.${name} must be a time from 00:00 to 23:59.` })
const flag = (name: string) => z.boolean({ error: `${name} must be true or false.` })
const severity = z.enum(SEVERITIES, {
  error: `push_min_severity must be one of ${SEVERITIES.join(', ')}.`,
})
const DAYS = { error: `quiet_hours.days must be a list of ${WEEKDAYS.join(', ')}.` }

const zone = (of: string) =>
  z
    .string({ error: `${of}.time_zone must be a string.` })
    .refine((text) => isTimeZone(text), { error: `${of}.time_zone must be an IANA time zone such as Europe/Berlin.` })
    .describe('IANA name.')

const quietHours = {
  enabled: flag('quiet_hours.enabled'),
  start: time('start').describe('On the wall clock of the time zone.'),
  end: time('end').describe('At or before the start: on the next day. Equal to it: a whole day.'),
  time_zone: zone('quiet_hours'),
  days: z
    .array(z.enum(WEEKDAYS, DAYS), DAYS)
    .min(1, DAYS)
    .max(WEEKDAYS.length, DAYS)
    .describe('Days on which quiet hours begin.'),
}

export const NotificationPreferences = z.object({
  channels: z.object({ email: z.boolean(), push: z.boolean() }),
  push_min_severity: severity.describe('Less urgent pushes are not sent.'),
  weekly_digest: z
    .object({ enabled: z.boolean(), time_zone: z.string().describe('IANA name.') })
    .describe('A mail on Mondays at 8 in the time zone, with the last seven days of each project.'),
  projects: z
    .array(z.object({ project_id: Id, channels: z.object({ email: z.boolean(), push: z.boolean() }) }))
    .describe('Projects for which you turned a channel off. One that is off in channels is off for every project.'),
  quiet_hours: z.object(quietHours).describe('They hold back mails and pushes that are not critical, until they end.'),
})
z.globalRegistry.add(NotificationPreferences, { id: 'NotificationPreferences' })
export type NotificationPreferences = z.infer<typeof NotificationPreferences>

export const preferencesRoutes = routes({
  readNotificationPreferences: {
    method: 'GET',
    path: '/api/me/notifications',
    tag: 'Notifications',
    summary: 'How the caller is notified in this organisation',
    permission: 'self',
    response: NotificationPreferences,
  },
  updateNotificationPreferences: {
    method: 'PATCH',
    path: '/api/me/notifications',
    tag: 'Notifications',
    summary: 'Change how you are notified',
    description: 'Absent fields stay as they are.',
    permission: 'self',
    body: z
      .strictObject({
        channels: z
          .strictObject(
            { email: flag('channels.email').optional(), push: flag('channels.push').optional() },
            { error: 'channels must be an object of email, push.' },
          )
          .optional(),
        push_min_severity: severity.optional(),
        weekly_digest: z
          .strictObject(
            { enabled: flag('weekly_digest.enabled').optional(), time_zone: zone('weekly_digest').optional() },
            { error: 'weekly_digest must be an object of enabled, time_zone.' },
          )
          .optional(),
        quiet_hours: z
          .strictObject(z.object(quietHours).partial().shape, {
            error: 'quiet_hours must be an object of enabled, start, end, time_zone, days.',
          })
          .optional(),
      })
      .refine((body) => Object.values(body).some((value) => value !== undefined), {
        error: 'Send at least one of channels, push_min_severity, weekly_digest, quiet_hours.',
      }),
    response: NotificationPreferences,
  },
  updateProjectNotifications: {
    method: 'PATCH',
    path: '/api/me/notifications/projects/:projectId',
    tag: 'Notifications',
    summary: 'Turn channels on or off for one project',
    description:
      'Without email: no mails about its alerts, and no place in the weekly digest. Without push: no pushes.',
    permission: 'self',
    params: z.object({ projectId: Id }),
    body: z
      .strictObject({ email: flag('email').optional(), push: flag('push').optional() })
      .refine(({ email, push }) => email !== undefined || push !== undefined, { error: 'Send email or push.' }),
    response: NotificationPreferences,
    refusals: [404],
  },
})
