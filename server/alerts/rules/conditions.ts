import {
  COMMON_KEYS,
  type ConditionKey,
  defaultThreshold,
  MAX_PERCENT,
  maxThreshold,
  NAMED_METRICS,
  type NumberRange,
  MONITOR_KINDS,
  PERCENT_METRICS,
  SECURITY_KINDS,
  alertTrigger,
  type TriggerType,
} from '#shared/alert-rules.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import type { Conditions, ConditionsInput } from './rule.api.ts'

/** Conditions of a rule: which keys belong to its trigger, their ranges and defaults. Pure. */

const MAX_COUNT = 1_000_000_000

function rangeOf(key: ConditionKey, trigger: TriggerType, { metric }: ConditionsInput): NumberRange | null {
  switch (key) {
    case 'threshold':
      // One is accepted with every trigger, so that a percentage means the same in all of them.
      return { min: 0, max: maxThreshold(trigger, metric), isWhole: false }
    case 'window_minutes':
      return { min: 1, max: alertTrigger(trigger).maxWindowMinutes, isWhole: true }
    case 'multiplier':
      return { min: 1, max: 1_000, isWhole: false }
    case 'min_users':
    case 'min_sessions':
    case 'min_count':
      return { min: 1, max: MAX_COUNT, isWhole: true }
    case 'severity':
    case 'environment':
    case 'kinds':
    case 'metric':
    case 'percentile':
    case 'transaction':
    case 'monitor':
      return null
  }
}

/**
 * The conditions of a rule, with the defaults of its trigger.
 * @throws AppError invalid for a key of another trigger, or a number out of range
 */
export function completeConditions(trigger: TriggerType, given: ConditionsInput): Conditions {
  const { keys, defaults } = alertTrigger(trigger)
  const allowed: readonly ConditionKey[] = [...new Set([...keys, ...COMMON_KEYS])]
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue
    const known = allowed.find((one) => one === key)
    if (known === undefined)
      throw invalid(`conditions: ${key} does not belong to ${trigger}. It takes ${allowed.join(', ')}.`)
    const range = rangeOf(known, trigger, given)
    if (range !== null && typeof value === 'number') requireRange(known, value, range)
  }
  const kinds: readonly string[] = trigger === 'monitor' ? MONITOR_KINDS : SECURITY_KINDS
  const foreign = given.kinds?.find((kind) => !kinds.includes(kind))
  if (foreign !== undefined)
    throw invalid(`conditions: kinds of ${trigger} must be of ${kinds.join(', ')}, not ${foreign}.`)
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const threshold = keys.includes('threshold') ? defaultThreshold(trigger, given.metric) : undefined
  const { kinds: usual, ...rest } = defaults
  return {
    ...rest,
    ...(usual === undefined ? {} : { kinds: [...usual] }),
    ...(threshold === undefined ? {} : { threshold }),
    ...present,
  }
}

function requireRange(key: ConditionKey, value: number, { min, max, isWhole }: NumberRange): void {
  const isLow = key === 'threshold' ? value <= 0 : value < min
  if (Number.isFinite(value) && !isLow && value <= max && (!isWhole || Number.isInteger(value))) return
  const range =
    key === 'threshold'
      ? `a number above 0, at most ${max.toLocaleString('en')}`
      : `a ${isWhole ? 'whole ' : ''}number from ${min} to ${max.toLocaleString('en')}`
  throw invalid(`conditions: ${key} must be ${range}.`)
}

/** Conditions that mean nothing to the trigger. */
export function unusedConditions(trigger: TriggerType, conditions: Conditions): Partial<Conditions> {
  const { keys } = alertTrigger(trigger)
  const { metric } = conditions
  const isUnused = (key: ConditionKey): boolean => {
    if (!keys.includes(key)) return true
    if (metric === undefined) return false
    if (key === 'percentile') return PERCENT_METRICS.includes(metric)
    return key === 'transaction' && !NAMED_METRICS.includes(metric)
  }
  return Object.fromEntries(
    Object.entries(conditions).filter(([key]) => CONDITION_KEYS.some((known) => known === key && isUnused(known))),
  )
}

const CONDITION_KEYS = [...COMMON_KEYS, 'percentile', 'transaction'] as const satisfies readonly ConditionKey[]

/** A threshold of a `critical_path` rule is a P95 in milliseconds. */
export const isP95Threshold = (threshold: number): boolean => threshold > MAX_PERCENT
