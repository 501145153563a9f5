import { expect, test } from 'vitest'
import { DEFAULT_INBOUND_FILTERS } from '../../ingest/filters/inbound-filters.api.ts'
import { DEFAULT_ESCALATING, DEFAULT_SEVERITY_RULES } from '../../issues/rules/issue-settings.api.ts'
import { projectSettings } from './project-settings.ts'

const defaults = {
  default_environment: 'production',
  retention_days: 90,
  auto_resolve_days: 14,
  allowed_origins: [],
  scrub_ip_addresses: false,
  scrub_email_addresses: false,
  scrub_fields: [],
  safe_fields: [],
  scrub_rules: [],
  inbound_filters: DEFAULT_INBOUND_FILTERS,
  escalating: DEFAULT_ESCALATING,
  severity_rules: DEFAULT_SEVERITY_RULES,
  rate_limit_per_minute: null,
  new_issues_per_hour: 5_000,
  new_issues_per_day: 20_000,
  spike_protection: true,
  ownership_rules: [],
  store_profiles: false,
  store_replays: false,
  unhandled_is_crash: false,
  request_p95_limit_ms: null,
  request_failure_limit: null,
  critical_paths: [],
  grouping_version: 2,
  grouping_transition: null,
  grouping_rules: { fingerprint: [], stack: [] },
}

test.each([[{}], [null], [undefined], ['nonsense'], [[]]])('%j gives the defaults', (stored) => {
  expect(projectSettings(stored)).toEqual(defaults)
})

test('one invalid value does not reset the others', () => {
  expect(projectSettings({ retention_days: 30, scrub_fields: 'all', later: 1, rate_limit_per_minute: 50 })).toEqual({
    ...defaults,
    retention_days: 30,
    rate_limit_per_minute: 50,
  })
})

test('one invalid filter does not reset the others', () => {
  const stored = { inbound_filters: { localhost: true, releases: '1.*', ip_addresses: ['10.0.0.0/8'], later: 1 } }
  expect(projectSettings(stored).inbound_filters).toEqual({
    ...DEFAULT_INBOUND_FILTERS,
    localhost: true,
    ip_addresses: ['10.0.0.0/8'],
  })
})

test('one invalid number of escalation or severity does not reset the others', () => {
  const stored = {
    escalating: { min_limit: 20, deviations: 'many', busy_factor: 0 },
    severity_rules: { users: 3, user_share: 7 },
  }
  expect(projectSettings(stored)).toMatchObject({
    escalating: { ...DEFAULT_ESCALATING, min_limit: 20 },
    severity_rules: { users: 3, user_share: 0.01 },
  })
})
