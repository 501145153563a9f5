import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TRIGGER_TYPES, TRIGGERS } from '#shared/alert-rules.ts'
import { completeConditions, unusedConditions } from './conditions.ts'

describe('conditions', () => {
  test('have the defaults of their trigger', () => {
    expect(completeConditions('issue_spike', {})).toEqual({ threshold: 100, window_minutes: 60, multiplier: 5 })
    expect(completeConditions('security_event', {})).toEqual({ severity: 'high' })
    expect(completeConditions('performance_threshold', {})).toEqual({
      threshold: 5_000,
      metric: 'cold_start',
      percentile: 'p95',
      window_minutes: 60,
      min_count: 50,
    })
    expect(completeConditions('performance_threshold', { metric: 'anr_rate' })).toMatchObject({ threshold: 0.47 })
  })

  test('keep threshold, window_minutes and severity where they mean nothing, and name them', () => {
    const conditions = completeConditions('new_issue', { threshold: 5, window_minutes: 60, severity: 'high' })
    expect(conditions).toEqual({ threshold: 5, window_minutes: 60, severity: 'high' })
    expect(unusedConditions('new_issue', conditions)).toEqual({ threshold: 5, window_minutes: 60 })
    const rate = completeConditions('performance_threshold', { metric: 'anr_rate', transaction: 'Checkout' })
    expect(unusedConditions('performance_threshold', rate)).toEqual({ percentile: 'p95', transaction: 'Checkout' })
  })

  test('refuse keys of another trigger, by name', () => {
    expect(() => completeConditions('new_issue', { multiplier: 5 })).toThrow(/multiplier does not belong to new_issue/)
    expect(() => completeConditions('issue_spike', { min_sessions: 20 })).toThrow(/min_sessions/)
  })

  test.each(TRIGGER_TYPES)(
    'of %s refuse thresholds that are not above 0 and finite, or beyond every value',
    (trigger) => {
      for (const threshold of [0, -1, -0.001, Number.NaN, Number.POSITIVE_INFINITY, 1e308])
        expect(() => completeConditions(trigger, { threshold })).toThrow(/threshold must be a number above 0/)
    },
  )

  test('refuse percentages above 100 and scores above 1', () => {
    expect(() => completeConditions('pre_crash_state', { threshold: 1.01 })).toThrow(/at most 1\./)
    expect(() => completeConditions('battery_drain_threshold', { threshold: 101 })).toThrow(/at most 100\./)
    expect(() => completeConditions('performance_threshold', { metric: 'frozen_frames', threshold: 101 })).toThrow(
      /100/,
    )
    expect(completeConditions('critical_path', { threshold: 3_000 })).toMatchObject({ threshold: 3_000 })
  })

  test('complete conditions stay as they are', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...TRIGGER_TYPES),
        fc.double({ min: 0.001, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 1_440 }),
        (trigger, threshold, windowMinutes) => {
          const once = completeConditions(trigger, { threshold, window_minutes: windowMinutes })
          expect(completeConditions(trigger, once)).toEqual(once)
          const keys: readonly string[] = TRIGGERS[trigger].keys
          expect(
            Object.keys(unusedConditions(trigger, once)).some((key) => keys.includes(key) && key === 'threshold'),
          ).toBe(false)
        },
      ),
    )
  })
})
