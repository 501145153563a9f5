import {
  DEFAULT_GRACE_MINUTES,
  DEFAULT_LIMIT_MINUTES,
  INTERVAL_UNITS,
  type IntervalUnit,
  MAX_INTERVAL,
  MAX_MONITOR_MINUTES,
  MAX_MONITOR_THRESHOLD,
} from '#shared/monitors.ts'
import type { Monitor, MonitorChange } from '../../../api/monitor-queries.ts'
import { monitorsTexts } from './texts.ts'

/** The settings of a monitor as they are typed into the form. Pure. */

export type NumberName = 'grace' | 'limit' | 'failures' | 'recoveries'

export type MonitorDraft = Readonly<Record<NumberName, string>> & {
  readonly kind: 'crontab' | 'interval' | 'none'
  readonly crontab: string
  readonly every: string
  readonly unit: IntervalUnit
  readonly timezone: string
}

/** The bounds of the API, and what counts where a field is empty. */
export const MONITOR_BOUNDS: Readonly<Record<NumberName, { min: number; max: number; unset: number }>> = {
  grace: { min: 0, max: MAX_MONITOR_MINUTES, unset: DEFAULT_GRACE_MINUTES },
  limit: { min: 1, max: MAX_MONITOR_MINUTES, unset: DEFAULT_LIMIT_MINUTES },
  failures: { min: 1, max: MAX_MONITOR_THRESHOLD, unset: 1 },
  recoveries: { min: 1, max: MAX_MONITOR_THRESHOLD, unset: 1 },
}

const FIELDS = {
  grace: 'checkin_margin_minutes',
  limit: 'max_runtime_minutes',
  failures: 'failure_issue_threshold',
  recoveries: 'recovery_threshold',
} as const satisfies Record<NumberName, keyof MonitorChange>
const NUMBER_NAMES = ['grace', 'limit', 'failures', 'recoveries'] as const satisfies readonly NumberName[]

const textOf = (value: number | null): string => (value === null ? '' : String(value))

export function toMonitorDraft(monitor: Monitor): MonitorDraft {
  const { schedule } = monitor
  return {
    kind: schedule?.type ?? 'none',
    crontab: schedule?.type === 'crontab' ? String(schedule.value) : '',
    every: schedule?.type === 'interval' ? String(schedule.value) : '1',
    unit: INTERVAL_UNITS.find((one) => one === schedule?.unit) ?? 'hour',
    timezone: monitor.timezone ?? 'UTC',
    grace: textOf(monitor.checkin_margin_minutes),
    limit: textOf(monitor.max_runtime_minutes),
    failures: textOf(monitor.failure_issue_threshold),
    recoveries: textOf(monitor.recovery_threshold),
  }
}

const isWhole = (text: string, min: number, max: number): boolean =>
  /^\d{1,9}$/.test(text.trim()) && Number(text) >= min && Number(text) <= max

/** Says what is wrong with each field. The service judges the parts of a crontab and the names of zones. */
export function findFaults(
  draft: MonitorDraft,
): Partial<Record<NumberName | 'crontab' | 'every' | 'timezone', string>> {
  const texts = monitorsTexts.form
  const faults: ReturnType<typeof findFaults> = {}
  if (draft.kind === 'crontab') {
    const crontab = draft.crontab.trim()
    if (!crontab.startsWith('@') && crontab.split(/\s+/).length !== 5) faults.crontab = texts.crontabWrong
    if (draft.timezone.trim() === '') faults.timezone = texts.timezoneWrong
  }
  if (draft.kind === 'interval' && !isWhole(draft.every, 1, MAX_INTERVAL)) faults.every = texts.wrong(1, MAX_INTERVAL)
  for (const name of NUMBER_NAMES) {
    const { min, max } = MONITOR_BOUNDS[name]
    if (draft[name].trim() !== '' && !isWhole(draft[name], min, max)) faults[name] = texts.wrong(min, max)
  }
  return faults
}

/** The fields that differ from what is stored. An empty number takes the default. */
export function toMonitorChange(monitor: Monitor, draft: MonitorDraft): MonitorChange {
  const stored = toMonitorDraft(monitor)
  const change: MonitorChange = {}
  if (draft.kind === 'crontab') {
    const value = draft.crontab.trim()
    if (stored.kind !== 'crontab' || value !== stored.crontab) change.schedule = { type: 'crontab', value }
    const timezone = draft.timezone.trim()
    if (timezone !== stored.timezone) change.timezone = timezone
  }
  if (draft.kind === 'interval') {
    const value = Number(draft.every)
    if (stored.kind !== 'interval' || value !== Number(stored.every) || draft.unit !== stored.unit)
      change.schedule = { type: 'interval', value, unit: draft.unit }
  }
  for (const name of NUMBER_NAMES) {
    const text = draft[name].trim()
    if (text !== stored[name]) change[FIELDS[name]] = text === '' ? null : Number(text)
  }
  return change
}
