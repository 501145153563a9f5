import { z } from 'zod'
import { INTERVAL_UNITS, MAX_INTERVAL, MAX_MONITOR_MINUTES, MAX_MONITOR_THRESHOLD } from '#shared/monitors.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id } from '../../platform/kernel/page.api.ts'
import { MONITOR_STATES, MonitorView } from '../../telemetry/monitors/monitors.api.ts'

const wholeField = (name: string, min: number, max: number) => {
  const error = { error: `${name} must be a whole number from ${min} to ${max.toLocaleString('en')}, or null.` }
  return z.int(error).min(min, error).max(max, error).nullable().optional()
}
export const SCHEDULE = {
  error:
    'schedule must be {"type": "crontab", "value": "0 3 * * *"} with five fields, or {"type": "interval", "value": 10, "unit": "minute"}.',
}
const schedule = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({
        type: z.literal('crontab'),
        value: z.string(SCHEDULE).max(256, SCHEDULE),
      }),
      z.strictObject({
        type: z.literal('interval'),
        value: z.int(SCHEDULE).min(1, SCHEDULE).max(MAX_INTERVAL, SCHEDULE),
        unit: z.enum(INTERVAL_UNITS, SCHEDULE),
      }),
    ],
    SCHEDULE,
  )
  .optional()
export const TIMEZONE = { error: 'timezone must be the name of a time zone, such as Europe/Berlin.' }

export const changeMonitorRoutes = routes({
  changeMonitor: {
    method: 'PATCH',
    path: '/api/monitors/:monitorId',
    tag: 'Telemetry',
    summary: 'Pause, mute or reschedule a monitor',
    description: 'A check-in that carries a schedule replaces the schedule. It leaves the state as it is.',
    permission: 'alerts.write',
    params: z.object({ monitorId: Id }),
    body: z.strictObject({
      state: z.enum(MONITOR_STATES, { error: `state must be one of ${MONITOR_STATES.join(', ')}.` }).optional(),
      schedule,
      timezone: z.string(TIMEZONE).max(100, TIMEZONE).optional(),
      checkin_margin_minutes: wholeField('checkin_margin_minutes', 0, MAX_MONITOR_MINUTES),
      max_runtime_minutes: wholeField('max_runtime_minutes', 1, MAX_MONITOR_MINUTES),
      failure_issue_threshold: wholeField('failure_issue_threshold', 1, MAX_MONITOR_THRESHOLD),
      recovery_threshold: wholeField('recovery_threshold', 1, MAX_MONITOR_THRESHOLD),
    }),
    response: MonitorView,
    refusals: [404],
  },
  deleteMonitor: {
    method: 'DELETE',
    path: '/api/monitors/:monitorId',
    tag: 'Telemetry',
    summary: 'Delete a monitor and its runs',
    description: 'A later check-in of the job makes it again.',
    permission: 'alerts.write',
    params: z.object({ monitorId: Id }),
    status: 204,
    refusals: [404],
  },
})
