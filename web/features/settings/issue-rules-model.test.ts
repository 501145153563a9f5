import { expect, test } from 'vitest'
import { boundBroken, draftOf, RULE_FIELDS, rulesOf } from './issue-rules-model.ts'

const rules = {
  escalating: { deviations: 5, busy_factor: 2.5, least: 10, young_factor: 10, young_least: 50 },
  severity_rules: { users: 25, user_share: 0.01 },
}

test('what is shown is what is sent', () => {
  expect(draftOf(rules).share).toBe('1')
  expect(rulesOf(draftOf(rules))).toEqual(rules)
  expect(draftOf({ ...rules, severity_rules: { users: 1, user_share: 0.07 } }).share).toBe('7')
  for (const field of RULE_FIELDS) expect(boundBroken(field, draftOf(rules)[field]), field).toBeNull()
})

test.each([
  ['users', '0'],
  ['users', '2.5'],
  ['users', ''],
  ['share', '0'],
  ['share', '101'],
  ['deviations', '0.5'],
  ['busy_factor', 'five'],
  ['least', '9'],
  ['young_least', '1000001'],
  ['young_factor', '-1'],
] as const)('%s %j is out of bounds', (field, text) => {
  expect(boundBroken(field, text)).not.toBeNull()
})
