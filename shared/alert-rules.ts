import type { Percentile, PerformanceMetric, TriggerType } from './alert-values.ts'

/** Alert rules: what triggers them, which conditions each trigger takes, and what they do. Pure. */

export * from './alert-values.ts'

/** The first five are those of the specification, the others ours. */
export const ACTION_TYPES = [
  'chat',
  'webhook',
  'email',
  'pager',
  'teamchat',
  'discord',
  'mattermost',
  'telegram',
  'ntfy',
] as const
export type ActionType = (typeof ACTION_TYPES)[number]

/** Kinds that a `security_event` rule can be limited to. */
export const SECURITY_KINDS = [
  'csp',
  'expect_ct',
  'expect_staple',
  'hpkp',
  'root',
  'tamper',
  'debugger',
  'pinning',
  'auth_failure',
] as const
export type SecurityKind = (typeof SECURITY_KINDS)[number]

/** Kinds of runs that a `monitor` rule can be limited to. */
export const MONITOR_KINDS = ['missed', 'failed', 'late', 'long'] as const
export type MonitorKind = (typeof MONITOR_KINDS)[number]

/** Percentages have no percentile. */
export const PERCENT_METRICS: readonly PerformanceMetric[] = ['anr_rate', 'frozen_frames']
/** Metrics of transactions, screens and pages, which have a name. */
export const NAMED_METRICS: readonly PerformanceMetric[] = ['ttid', 'ttfd', 'transaction', 'lcp', 'inp']

/** Every key that conditions can have, for any trigger. */
export type ConditionKey =
  | 'threshold'
  | 'window_minutes'
  | 'severity'
  | 'environment'
  | 'multiplier'
  | 'min_users'
  | 'kinds'
  | 'min_sessions'
  | 'metric'
  | 'percentile'
  | 'min_count'
  | 'transaction'
  | 'monitor'

/** Accepted with every trigger; where one means nothing it is kept and named in `unused_conditions`. */
export const COMMON_KEYS = ['threshold', 'window_minutes', 'severity'] as const satisfies readonly ConditionKey[]

export type Unit = 'events' | 'runs' | 'percent' | 'ms' | 'score' | 'percent_per_hour'

export type NumberRange = { readonly min: number; readonly max: number; readonly isWhole: boolean }

type Trigger = {
  /** Keys that mean something to it. */
  readonly keys: readonly ConditionKey[]
  /** The unit of its threshold. Null without one. */
  readonly unit: Unit | null
  readonly defaults: {
    readonly threshold?: number
    readonly window_minutes?: number
    readonly severity?: 'high'
    readonly multiplier?: number
    readonly min_sessions?: number
    readonly metric?: PerformanceMetric
    readonly percentile?: Percentile
    readonly min_count?: number
    readonly kinds?: readonly MonitorKind[]
  }
  readonly maxThreshold: number
  readonly maxWindowMinutes: number
  /**
   * `fact`: fires on what is recorded, in the transaction that records it. `rate`: evaluated every minute. A spike is both.
   */
  readonly by: 'fact' | 'rate' | 'both'
}

/** No threshold that means something is larger. */
const MAX_THRESHOLD = 1_000_000_000
const DAY_MINUTES = 1_440
const WEEK_MINUTES = 7 * DAY_MINUTES

/** The triggers. */
export const TRIGGERS = {
  new_issue: {
    keys: ['severity', 'environment'],
    unit: null,
    defaults: {},
    maxThreshold: MAX_THRESHOLD,
    maxWindowMinutes: WEEK_MINUTES,
    by: 'fact',
  },
  issue_regression: {
    keys: ['severity', 'environment'],
    unit: null,
    defaults: {},
    maxThreshold: MAX_THRESHOLD,
    maxWindowMinutes: WEEK_MINUTES,
    by: 'fact',
  },
  issue_spike: {
    keys: ['threshold', 'window_minutes', 'multiplier', 'min_users', 'severity'],
    unit: 'events',
    defaults: { threshold: 100, window_minutes: 60, multiplier: 5 },
    maxThreshold: MAX_THRESHOLD,
    maxWindowMinutes: DAY_MINUTES,
    by: 'both',
  },
  security_event: {
    keys: ['severity', 'kinds'],
    unit: null,
    defaults: { severity: 'high' },
    maxThreshold: MAX_THRESHOLD,
    maxWindowMinutes: WEEK_MINUTES,
    by: 'fact',
  },
  pre_crash_state: {
    keys: ['threshold', 'window_minutes'],
    unit: 'score',
    defaults: { threshold: 0.8, window_minutes: 15 },
    maxThreshold: 1,
    maxWindowMinutes: DAY_MINUTES,
    by: 'rate',
  },
  battery_drain_threshold: {
    keys: ['threshold', 'window_minutes', 'min_sessions'],
    unit: 'percent_per_hour',
    defaults: { threshold: 10, window_minutes: DAY_MINUTES, min_sessions: 20 },
    maxThreshold: 100,
    maxWindowMinutes: WEEK_MINUTES,
    by: 'rate',
  },
  performance_threshold: {
    keys: ['threshold', 'metric', 'percentile', 'window_minutes', 'min_count', 'transaction'],
    unit: 'ms',
    defaults: { metric: 'cold_start', percentile: 'p95', window_minutes: 60, min_count: 50 },
    maxThreshold: 86_400_000,
    maxWindowMinutes: DAY_MINUTES,
    by: 'rate',
  },
  critical_path: {
    keys: ['threshold', 'window_minutes', 'min_count'],
    unit: 'percent',
    defaults: { threshold: 2, window_minutes: 15, min_count: 20 },
    maxThreshold: 86_400_000,
    maxWindowMinutes: DAY_MINUTES,
    by: 'rate',
  },
  monitor: {
    keys: ['kinds', 'monitor', 'environment'],
    unit: 'runs',
    defaults: { kinds: ['missed', 'failed', 'long'] },
    maxThreshold: MAX_THRESHOLD,
    maxWindowMinutes: WEEK_MINUTES,
    by: 'rate',
  },
} as const satisfies Record<TriggerType, Trigger>

export const alertTrigger = (type: TriggerType): Trigger => TRIGGERS[type]

/** Above it, the threshold of a `critical_path` rule is a P95 in milliseconds: no rate of failures is higher. */
export const MAX_PERCENT = 100

const PERFORMANCE_DEFAULTS: Readonly<Partial<Record<PerformanceMetric, number>>> = {
  anr_rate: 0.47,
  frozen_frames: 5,
}

/** The threshold of a trigger unless one is given. */
export function defaultThreshold(type: TriggerType, metric?: PerformanceMetric): number | undefined {
  if (type !== 'performance_threshold') return alertTrigger(type).defaults.threshold
  return PERFORMANCE_DEFAULTS[metric ?? 'cold_start'] ?? 5_000
}

/** The largest threshold that makes sense. */
export const maxThreshold = (type: TriggerType, metric?: PerformanceMetric): number =>
  metric !== undefined && PERCENT_METRICS.includes(metric) ? MAX_PERCENT : alertTrigger(type).maxThreshold

/** Unit of the threshold and of the values that an alert of the trigger names. */
export function thresholdUnit(
  type: TriggerType,
  conditions: { readonly threshold?: number | undefined; readonly metric?: PerformanceMetric | undefined },
): Unit | null {
  if (type === 'performance_threshold' && conditions.metric !== undefined)
    return PERCENT_METRICS.includes(conditions.metric) ? 'percent' : 'ms'
  if (type === 'critical_path' && (conditions.threshold ?? 0) > MAX_PERCENT) return 'ms'
  return alertTrigger(type).unit
}

export const DEFAULT_COOLDOWN_MINUTES = 60
export const MAX_ACTIONS = 10
export const MAX_RECIPIENTS = 20
export const MAX_RULE_NAME_LENGTH = 100
/** A rule that fires more often in a minute sends one summary of the further alerts. */
export const MAX_ALERTS_PER_MINUTE = 10
