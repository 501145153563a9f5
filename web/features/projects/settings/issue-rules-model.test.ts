import { expect, test } from 'vitest'
import { brokenBounds, toIssueRuleDraft, RULE_FIELDS, toIssueRules } from './issue-rules-model.ts'

const rules = {
  escalating: { deviations: 5, busy_factor: 2.5, min_limit: 10, new_issue_factor: 10, new_issue_min_limit: 50 },
  severity_rules: { users: 25, user_share: 0.01 },
}

test('settings that are not edited are sent unchanged', () => {
  expect(toIssueRuleDraft(rules).share).toBe('1')
  expect(toIssueRules(toIssueRuleDraft(rules))).toEqual(rules)
  expect(toIssueRuleDraft({ ...rules, severity_rules: { users: 1, user_share: 0.07 } }).share).toBe('7')
  for (const field of RULE_FIELDS) expect(brokenBounds(field, toIssueRuleDraft(rules)[field]), field).toBeNull()
})

test.each([
  ['users', '0'],
  ['users', '2.5'],
  ['users', ''],
  ['share', '0'],
  ['share', '101'],
  ['deviations', '0.5'],
  ['busy_factor', 'five'],
  ['min_limit', '9'],
  ['new_issue_min_limit', '1000001'],
  ['new_issue_factor', '-1'],
] as const)('%s %j is out of bounds', (field, text) => {
  expect(brokenBounds(field, text)).not.toBeNull()
})
