/** Values of alert rules that addresses name too: apart, because every page loads them. Pure. */

export const TRIGGER_TYPES = [
  'new_issue',
  'issue_regression',
  'issue_spike',
  'security_event',
  'pre_crash_state',
  'battery_drain_threshold',
  'performance_threshold',
  'critical_path',
  // Ours, beside those of the specification.
  'monitor',
] as const
export type TriggerType = (typeof TRIGGER_TYPES)[number]

export const ALERT_STATES = ['firing', 'acknowledged', 'resolved', 'expired'] as const
export type AlertState = (typeof ALERT_STATES)[number]

/** Metrics of a `performance_threshold` rule; times in milliseconds, `anr_rate` and `frozen_frames` in percent. */
export const PERFORMANCE_METRICS = [
  'cold_start',
  'warm_start',
  'ttid',
  'ttfd',
  'transaction',
  'lcp',
  'inp',
  'anr_rate',
  'frozen_frames',
] as const
export type PerformanceMetric = (typeof PERFORMANCE_METRICS)[number]

export const PERCENTILES = ['p50', 'p75', 'p90', 'p95', 'p99'] as const
export type Percentile = (typeof PERCENTILES)[number]
