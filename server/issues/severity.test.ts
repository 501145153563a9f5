import { describe, expect, test } from 'vitest'
import type { EventLevel } from '../protocol/event.api.ts'
import { initialSeverity, type SeverityFacts, type UserImpact } from './severity.ts'

const facts = (level: EventLevel, more: Partial<SeverityFacts> = {}): SeverityFacts => ({
  level,
  isUnhandled: false,
  isAnr: false,
  isNativeCrash: false,
  ...more,
})

const FEW: UserImpact = { affectedUsers: 1, activeUsers: 10_000 }
const ONE_PERCENT: UserImpact = { affectedUsers: 20, activeUsers: 2_000 }
const JUST_BELOW: UserImpact = { affectedUsers: 19, activeUsers: 2_000 }
const TWENTY_FIVE: UserImpact = { affectedUsers: 25, activeUsers: null }
const TWENTY_FOUR: UserImpact = { affectedUsers: 24, activeUsers: null }

describe.each([
  ['an unhandled fatal error', facts('fatal', { isUnhandled: true })],
  ['an unhandled error', facts('error', { isUnhandled: true })],
  ['a native crash', facts('fatal', { isNativeCrash: true })],
  ['an ANR, whatever its level', facts('info', { isAnr: true })],
])('%s', (_, crash) => {
  test.each([
    [FEW, 'high'],
    [JUST_BELOW, 'high'],
    [TWENTY_FOUR, 'high'],
    [ONE_PERCENT, 'critical'],
    [TWENTY_FIVE, 'critical'],
  ])('%j: %s', (impact, severity) => {
    expect(initialSeverity(crash, impact)).toBe(severity)
  })
})

describe('a handled error', () => {
  test.each([
    [FEW, 'medium'],
    [JUST_BELOW, 'medium'],
    [TWENTY_FIVE, 'medium'],
    [ONE_PERCENT, 'high'],
  ])('%j: %s', (impact, severity) => {
    expect(initialSeverity(facts('error'), impact)).toBe(severity)
    expect(initialSeverity(facts('fatal'), impact)).toBe(severity)
  })
})

test('warnings are medium, the rest low, however many they reach', () => {
  for (const impact of [FEW, ONE_PERCENT, TWENTY_FIVE]) {
    expect(initialSeverity(facts('warning'), impact)).toBe('medium')
    expect(initialSeverity(facts('info'), impact)).toBe('low')
    expect(initialSeverity(facts('debug'), impact)).toBe('low')
  }
})

test('nobody active is no division by zero', () => {
  expect(initialSeverity(facts('error'), { affectedUsers: 0, activeUsers: 0 })).toBe('medium')
})
