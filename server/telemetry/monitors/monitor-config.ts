import { INTERVAL_UNITS } from '#shared/monitors.ts'
import type { MonitorConfig } from '../../events/protocol/check-in.ts'
import type { MonitorRow } from './monitors.queries.ts'

type Stored = Pick<
  MonitorRow,
  | 'schedule_type'
  | 'schedule_value'
  | 'schedule_unit'
  | 'timezone'
  | 'checkin_margin_minutes'
  | 'max_runtime_minutes'
  | 'failure_issue_threshold'
  | 'recovery_threshold'
  | 'owner'
>

/** The configuration of a monitor as it is stored; null without a schedule. */
export function monitorConfig(row: Stored): MonitorConfig | null {
  const schedule = scheduleIn(row)
  if (schedule === null) return null
  return {
    schedule,
    timezone: row.timezone ?? 'UTC',
    checkinMarginMinutes: row.checkin_margin_minutes,
    maxRuntimeMinutes: row.max_runtime_minutes,
    failureIssueThreshold: row.failure_issue_threshold,
    recoveryThreshold: row.recovery_threshold,
    owner: row.owner,
  }
}

function scheduleIn({ schedule_type: type, schedule_value: value, schedule_unit: unit }: Stored) {
  if (value === null) return null
  if (type === 'crontab') return { type, value } as const
  const known = INTERVAL_UNITS.find((one) => one === unit)
  return type === 'interval' && known !== undefined ? ({ type, value: Number(value), unit: known } as const) : null
}

/** The configuration as the API answers it. */
export function viewConfig(row: Stored) {
  return {
    schedule: viewSchedule(row),
    timezone: row.timezone,
    checkin_margin_minutes: row.checkin_margin_minutes,
    max_runtime_minutes: row.max_runtime_minutes,
    failure_issue_threshold: row.failure_issue_threshold,
    recovery_threshold: row.recovery_threshold,
    owner: row.owner,
  }
}

function viewSchedule({ schedule_type: type, schedule_value: value, schedule_unit: unit }: Stored) {
  if (type === null || value === null) return null
  return { type, value: type === 'interval' ? Number(value) : value, unit }
}
