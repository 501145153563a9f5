import { expect, test } from 'vitest'
import { hasRequestLimits, toRequestLimitDraft, toRequestLimits } from './request-limits-model.ts'

test.each([
  [
    { p95: '', failures: '' },
    { request_p95_limit_ms: null, request_failure_limit: null },
  ],
  [
    { p95: '1000', failures: '0.7' },
    { request_p95_limit_ms: 1_000, request_failure_limit: 0.007 },
  ],
])('%j is %j, both ways', (draft, limits) => {
  expect(hasRequestLimits(draft)).toEqual({ p95: true, failures: true })
  expect(toRequestLimits(draft)).toEqual(limits)
  expect(toRequestLimitDraft(limits)).toEqual(draft)
})

test.each(['0', '-1', '1.5', 'fast', '600001'])('%s is no P95', (p95) => {
  expect(hasRequestLimits({ p95, failures: '' }).p95).toBe(false)
})

test.each(['0', '101', '-1', '1 %', '1,5'])('%s is no share', (failures) => {
  expect(hasRequestLimits({ p95: '', failures }).failures).toBe(false)
})
