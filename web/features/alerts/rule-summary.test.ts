import { expect, test } from 'vitest'
import { ruleSummary } from './rule-summary.ts'

const plain = (text: string): string => text.replaceAll('\u202f', ' ')

test('each trigger has its words', () => {
  const summaries = [
    ruleSummary({ trigger_type: 'new_issue', conditions: {} }),
    ruleSummary({ trigger_type: 'issue_regression', conditions: { severity: 'high' } }),
    ruleSummary({ trigger_type: 'issue_spike', conditions: { threshold: 1500, window_minutes: 60, multiplier: 5 } }),
    ruleSummary({ trigger_type: 'security_event', conditions: { severity: 'critical' } }),
    ruleSummary({ trigger_type: 'pre_crash_state', conditions: { threshold: 0.8, window_minutes: 15 } }),
    ruleSummary({ trigger_type: 'battery_drain_threshold', conditions: { threshold: 10, window_minutes: 1440 } }),
    ruleSummary({
      trigger_type: 'performance_threshold',
      conditions: { metric: 'cold_start', percentile: 'p95', threshold: 5000, window_minutes: 60 },
    }),
    ruleSummary({
      trigger_type: 'performance_threshold',
      conditions: { metric: 'anr_rate', threshold: 0.47, window_minutes: 60 },
    }),
    ruleSummary({ trigger_type: 'critical_path', conditions: { threshold: 2, window_minutes: 15 } }),
    ruleSummary({ trigger_type: 'critical_path', conditions: { threshold: 3000, window_minutes: 15 } }),
    ruleSummary({ trigger_type: 'monitor', conditions: { kinds: ['missed', 'long'] } }),
    ruleSummary({ trigger_type: 'monitor', conditions: { kinds: ['failed'], monitor: 'nightly' } }),
  ]
  expect(summaries.map(plain)).toEqual([
    'New issue, any severity',
    'Issue comes back, severity high or above',
    '1,500 events or more in 60 min, ×5 over usual',
    'Security event, severity critical',
    'Crash signs score over 0.8 in 15 min',
    'Over 10 % per hour in 24 h',
    'P95 of cold start over 5 s in 60 min',
    'Over 0.47 % ANR rate in 60 min',
    'More than 2 % fail in 15 min',
    'P95 over 3 s in 15 min',
    'Runs of jobs: missed, too long',
    'Runs of nightly: failed',
  ])
})
