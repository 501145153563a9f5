import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readClientReport } from './client-report.ts'

test('reads all lists with their kinds', () => {
  const element = { reason: 'ratelimit_backoff', category: 'error', quantity: 3 }
  expect(
    readClientReport({
      timestamp: 'whenever',
      discarded_events: [element, { reason: 'invented_by_this_sdk', category: 'hologram', quantity: 1 }],
      rate_limited_events: [element],
      filtered_events: [element],
      filtered_sampling_events: [element],
      further: 1,
    }),
  ).toEqual([
    { kind: 'discarded', ...element },
    { kind: 'discarded', reason: 'invented_by_this_sdk', category: 'default', quantity: 1 },
    { kind: 'rate_limited', ...element },
    { kind: 'filtered', ...element },
    { kind: 'filtered_sampling', ...element },
  ])
  expect(readClientReport({ timestamp: 1, discarded_events: [] })).toEqual([])
  expect(readClientReport({})).toEqual([])
})

test('leaves out wrong elements; without any valid one it is no report', () => {
  const good = { reason: 'x', category: 'error', quantity: 1 }
  const wrong = [
    null,
    7,
    'x',
    [],
    {},
    { ...good, quantity: -1 },
    { ...good, quantity: 1.5 },
    { ...good, quantity: '1' },
    { ...good, quantity: 1e300 },
    { ...good, quantity: 1e10 },
    { ...good, reason: null },
    { ...good, reason: 5 },
  ]
  expect(readClientReport({ discarded_events: [...wrong, good] })).toEqual([{ kind: 'discarded', ...good }])
  expect(readClientReport({ discarded_events: wrong })).toBeNull()
  for (const value of [null, 1, 'x', [], { discarded_events: 'x' }, { discarded_events: {} }])
    expect(readClientReport(value)).toBeNull()
})

test('stays within its limits for any input', () => {
  const many = Array.from({ length: 5_000 }, () => ({ reason: 'r', category: 'error', quantity: 1 }))
  expect(readClientReport({ discarded_events: many })).toHaveLength(1_000)
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          reason: fc.string({ unit: 'binary', maxLength: 200 }),
          category: fc.string(),
          quantity: fc.integer(),
        }),
      ),
      (list) => {
        for (const { reason, quantity } of readClientReport({ discarded_events: list }) ?? []) {
          expect(reason.length).toBeLessThanOrEqual(64)
          expect(reason).not.toMatch(/[\u0000-\u001f]/)
          expect(quantity).toBeGreaterThanOrEqual(0)
        }
      },
    ),
  )
})
