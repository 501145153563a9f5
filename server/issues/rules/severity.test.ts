import { describe, expect, test } from 'vitest'
import type { EventLevel } from '../../events/protocol/event.api.ts'
import {
  newImpact,
  computeSeverityRank,
  reach,
  EVENT_SEVERITY,
  rateEventSeverity,
  hasHighImpact,
  isHighImpact,
  rateSeverity,
  type SeverityFacts,
  type UserImpact,
} from './impact.ts'
import { severityName } from '#shared/issue-values.ts'

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

const severity = (of: SeverityFacts, impact: UserImpact, isEscalated = false) =>
  rateSeverity(rateEventSeverity(of), isHighImpact(rateEventSeverity(of), impact), isEscalated)

describe.each([
  ['an unhandled fatal error', facts('fatal', { isUnhandled: true })],
  ['an unhandled error', facts('error', { isUnhandled: true })],
  ['a native crash', facts('fatal', { isNativeCrash: true })],
  ['an ANR of any level', facts('info', { isAnr: true })],
])('%s', (_, crash) => {
  test.each([
    [FEW, 'high'],
    [JUST_BELOW, 'high'],
    [TWENTY_FOUR, 'high'],
    [ONE_PERCENT, 'critical'],
    [TWENTY_FIVE, 'critical'],
  ])('%j: %s', (impact, expected) => {
    expect(severity(crash, impact)).toBe(expected)
    expect(severity(crash, impact, true)).toBe('critical')
  })
})

describe('a handled error', () => {
  test.each([
    [FEW, 'medium', 'high'],
    [JUST_BELOW, 'medium', 'high'],
    [TWENTY_FIVE, 'medium', 'high'],
    [ONE_PERCENT, 'high', 'critical'],
  ])('%j: %s, escalated %s', (impact, expected, escalated) => {
    expect(severity(facts('error'), impact)).toBe(expected)
    expect(severity(facts('fatal'), impact)).toBe(expected)
    expect(severity(facts('error'), impact, true)).toBe(escalated)
  })
})

test('warnings are medium and other levels low, for any number of users', () => {
  for (const impact of [FEW, ONE_PERCENT, TWENTY_FIVE]) {
    expect(severity(facts('warning'), impact)).toBe('medium')
    expect(severity(facts('info'), impact)).toBe('low')
    expect(severity(facts('debug'), impact, true)).toBe('medium')
  }
})

test('without active users nothing is divided by zero', () => {
  expect(severity(facts('error'), { affectedUsers: 0, activeUsers: 0 })).toBe('medium')
})

test('a project sets the limits of high impact', () => {
  const rules = { users: 3, user_share: 0.5 }
  expect(isHighImpact(EVENT_SEVERITY.crash, { affectedUsers: 3, activeUsers: null }, rules)).toBe(true)
  expect(isHighImpact(EVENT_SEVERITY.crash, { affectedUsers: 2, activeUsers: 100 }, rules)).toBe(false)
  expect(isHighImpact(EVENT_SEVERITY.error, { affectedUsers: 50, activeUsers: 100 }, rules)).toBe(true)
})

describe('over days', () => {
  const noon = (day: number) => new Date(`2026-11-${day}T12:00:00Z`)
  const crash = (users: number) => ({ eventSeverity: EVENT_SEVERITY.crash, users, manyUsers: 25 })

  test('users of a day add up, the next day starts at zero, and a high-impact day counts until the next day ends', () => {
    const monday = reach(
      reach(newImpact(EVENT_SEVERITY.crash), crash(20), 'unresolved', noon(16)),
      crash(5),
      'unresolved',
      noon(16),
    )
    expect(monday).toMatchObject({ usersToday: 25, highImpactDay: '2026-11-16', severity: 3 })
    const tuesday = reach(monday, crash(1), 'unresolved', noon(17))
    expect(tuesday).toMatchObject({ usersToday: 1, severity: 3 })
    expect(reach(tuesday, crash(1), 'unresolved', noon(18)).severity).toBe(2)
    expect(hasHighImpact('2026-11-16', '2026-11-16')).toBe(true)
    expect(hasHighImpact('2026-11-16', '2026-11-17')).toBe(false)
  })

  test('the worst event decides, and a pinned severity stays', () => {
    const warned = newImpact(EVENT_SEVERITY.warning)
    expect(severityName(reach(warned, crash(1), 'unresolved', noon(16)).severity)).toBe('high')
    const pinned = { ...warned, isPinned: true, severity: 0 }
    expect(reach(pinned, crash(100), 'escalated', noon(16))).toMatchObject({
      severity: 0,
      eventSeverity: 3,
      highImpactDay: '2026-11-16',
    })
    expect(
      severityName(
        computeSeverityRank({ eventSeverity: EVENT_SEVERITY.crash, highImpactDay: null }, 'escalated', noon(16)),
      ),
    ).toBe('critical')
  })
})
