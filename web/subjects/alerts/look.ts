import type { ActionType, AlertState, TriggerType, Unit } from '#shared/alert-rules.ts'
import type { Alert, AlertDelivery } from '../../api/alert-queries.ts'
import { formatCount, formatDuration, formatLeft } from '../../ui/format.ts'
import type { IconName } from '../../ui/icon.tsx'
import type { DeliveryLook } from './delivery-look.ts'
import { alertTexts } from './alert-texts.ts'

/** How alerts, rules and deliveries look. Pure. */

export const TRIGGER_ICONS: Readonly<Record<TriggerType, IconName>> = {
  new_issue: 'spark',
  issue_regression: 'st-regressed',
  issue_spike: 'st-escalated',
  security_event: 'shield',
  pre_crash_state: 'warn',
  battery_drain_threshold: 'battery',
  performance_threshold: 'gauge',
  monitor: 'clock',
  critical_path: 'bolt',
}

export const CHANNEL_ICONS: Readonly<Record<ActionType | 'push', IconName>> = {
  chat: 'chat',
  webhook: 'hook',
  email: 'mail',
  pager: 'pager',
  teamchat: 'users',
  discord: 'chat',
  mattermost: 'chat',
  telegram: 'send',
  ntfy: 'bell',
  push: 'phone',
}

const THIN = '\u202f'
const percentOf = (value: number): string => `${Number(value.toFixed(2))}${THIN}%`

/** A measured value or threshold with its unit. */
export function formatMeasured(value: number | null, unit: Unit | null): string | null {
  if (value === null) return null
  switch (unit) {
    case 'events':
      return alertTexts.events(formatCount(value))
    case 'runs':
      return alertTexts.runs(formatCount(value))
    case 'percent':
      return percentOf(value)
    case 'percent_per_hour':
      return alertTexts.perHour(percentOf(value))
    case 'ms':
      return formatDuration(value)
    case 'score':
      return String(Number(value.toFixed(2)))
    case null:
      return formatCount(value)
  }
}

/** `15 min`, `60 min`, `24 h`, `7 d`: as windows and quiet times are spoken of. */
export function formatMinutes(minutes: number): string {
  if (minutes % 1440 === 0 && minutes > 1440) return `${minutes / 1440}${THIN}d`
  if (minutes % 60 === 0 && minutes > 60) return `${minutes / 60}${THIN}h`
  return `${minutes}${THIN}min`
}

const ORDER: Readonly<Record<AlertState, number>> = { firing: 0, acknowledged: 1, resolved: 2, expired: 2 }

/** Firing alerts first; otherwise the order stays. */
export const firingFirst = <T extends Pick<Alert, 'state'>>(alerts: readonly T[]): T[] =>
  alerts.toSorted((a, b) => ORDER[a.state] - ORDER[b.state])

/** The state of a delivery. It is only called failed when no attempt is left. */
export function deliveryLook({ state, next_attempt_at: nextAt }: AlertDelivery, now: number): DeliveryLook {
  const texts = alertTexts.deliveries
  if (state === 'delivered') return { tone: 'green', icon: 'check', text: texts.delivered }
  if (state === 'in_flight') return { tone: 'blue', icon: 'send', text: texts.inFlight }
  if (state === 'skipped') return { tone: 'slate', icon: 'st-ignored', text: texts.skipped }
  if (state === 'failed' && nextAt === null) return { tone: 'red', icon: 'x', text: texts.failed }
  if (state === 'pending' || nextAt === null) return { tone: 'slate', icon: 'clock', text: texts.pending }
  const isDue = Date.parse(nextAt) <= now
  return { tone: 'slate', icon: 'clock', text: isDue ? texts.due : texts.retry(formatLeft(nextAt, now)) }
}

/** An error with the status before it, unless it says the status itself. */
export const withStatus = (status: number | null, error: string): string =>
  status === null || error.includes(String(status)) ? error : `${status}: ${error}`

/** The answer of the receiver, or why nothing was sent; null before the first attempt. */
export function deliveryAnswer(delivery: AlertDelivery): string | null {
  const { last_status: status, last_error: error, duration_ms: duration, state, skipped } = delivery
  if (skipped !== null) return skipped
  if (state !== 'delivered' && error !== null) return withStatus(status, error)
  if (status !== null)
    return duration === null ? String(status) : alertTexts.deliveries.answer(status, formatDuration(duration))
  if (state !== 'delivered') return null
  return duration === null ? null : alertTexts.deliveries.accepted(formatDuration(duration))
}
