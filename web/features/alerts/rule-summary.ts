import { MAX_PERCENT, MONITOR_KINDS, PERCENT_METRICS, thresholdUnit } from '#shared/alert-rules.ts'
import type { AlertRule } from '../../api/alert-queries.ts'
import { formatMeasured, formatMinutes } from '../../subjects/alerts/look.ts'
import { formatCount, formatDuration, formatFactor, NO_DATA } from '../../ui/format.ts'
import { alertsTexts } from './texts.ts'

const texts = alertsTexts.summaries

/** The condition of a rule in a few words. Pure. */
export function ruleSummary({
  trigger_type: trigger,
  conditions,
}: Pick<AlertRule, 'trigger_type' | 'conditions'>): string {
  const { threshold = 0, window_minutes: minutes = 60, severity, metric = 'cold_start' } = conditions
  const window = formatMinutes(minutes)
  const limit = formatMeasured(threshold, thresholdUnit(trigger, conditions)) ?? NO_DATA
  const atLeast = severity === undefined ? null : alertsTexts.severities[severity]
  switch (trigger) {
    case 'new_issue':
      return atLeast === null ? texts.newIssue : texts.newIssueOf(atLeast)
    case 'issue_regression':
      return atLeast === null ? texts.regression : texts.regressionOf(atLeast)
    case 'issue_spike':
      return texts.spike(formatCount(threshold), window, formatFactor(conditions.multiplier ?? 1))
    case 'security_event':
      return atLeast === null ? texts.security : texts.securityOf(atLeast)
    case 'pre_crash_state':
      return texts.crashSigns(limit, window)
    case 'battery_drain_threshold':
      return texts.battery(limit, window)
    case 'performance_threshold':
      return PERCENT_METRICS.includes(metric)
        ? texts.share(alertsTexts.metrics[metric], limit, window)
        : texts.percentile((conditions.percentile ?? 'p95').toUpperCase(), alertsTexts.metrics[metric], limit, window)
    case 'critical_path':
      return threshold > MAX_PERCENT
        ? texts.pathSlow(formatDuration(threshold), window)
        : texts.pathFails(limit, window)
    case 'monitor':
      return texts.monitor(
        (conditions.kinds ?? MONITOR_KINDS).map((kind) => alertsTexts.kinds[kind]).join(', '),
        conditions.monitor,
      )
  }
}
