import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replayRule } from './dry-run.ts'

const START = Date.parse('2026-11-13T12:00:00.000Z')
const MINUTE = 60_000
const time = (minutes: number): Date => new Date(START + minutes * MINUTE)
const point = (minutes: number, holds: boolean, value: number | null = holds ? 9 : 1, subject = '') => ({
  at: time(minutes),
  subject,
  value,
  holds,
})
const LIMITS = { cooldownMs: 60 * MINUTE, endsWithoutPoint: false }
const minutesOf = (points: ReturnType<typeof point>[], limits = LIMITS) =>
  replayRule({ points, facts: [] }, limits).map(({ at }) => (at.getTime() - START) / MINUTE)

test('an alert while the condition holds, however long', () => {
  expect(minutesOf([0, 15, 30, 90, 600].map((at) => point(at, true)))).toEqual([0])
})

test('a further alert needs an end and the cool-down', () => {
  expect(minutesOf([point(0, true), point(15, false), point(30, true), point(45, true)])).toEqual([0])
  expect(minutesOf([point(0, true), point(15, false), point(75, true)])).toEqual([0, 75])
  // Held until after the cool-down without an alert.
  expect(minutesOf([point(0, true), point(15, false), point(45, true), point(60, true)])).toEqual([0, 60])
})

test('no data ends nothing and fires nothing', () => {
  expect(minutesOf([point(0, true), point(60, false, null), point(120, true)])).toEqual([0])
  expect(minutesOf([point(0, false, null)])).toEqual([])
})

test('subjects are apart', () => {
  const points = [point(0, true, 9, 'a'), point(0, true, 9, 'b'), point(15, true, 9, 'a')]
  expect(replayRule({ points, facts: [] }, LIMITS).map(({ subject }) => subject)).toEqual(['a', 'b'])
})

test('an issue without events for an hour has ended', () => {
  const points = [point(0, true), point(60, true), point(300, true)]
  expect(minutesOf(points)).toEqual([0])
  expect(minutesOf(points, { ...LIMITS, endsWithoutPoint: true })).toEqual([0, 300])
})

test('each fact fires once per issue and cool-down', () => {
  const fact = (minutes: number, issueId: string) => ({ at: time(minutes), issueId })
  const facts = [fact(0, 'a'), fact(30, 'a'), fact(30, 'b'), fact(60, 'a')]
  const moments = replayRule({ points: [], facts }, LIMITS)
  expect(moments.map(({ at, issueId }) => `${issueId} ${(at.getTime() - START) / MINUTE}`)).toEqual([
    'a 0',
    'b 30',
    'a 60',
  ])
})

test('never two alerts of a subject within the cool-down, and none without a reason', () => {
  const seen = fc.array(
    fc.record({
      minutes: fc.integer({ min: 0, max: 10_000 }),
      value: fc.option(fc.integer({ min: 0, max: 9 })),
      subject: fc.constantFrom('a', 'b'),
    }),
  )
  fc.assert(
    fc.property(seen, fc.integer({ min: 0, max: 500 }), (all, cooldown) => {
      const points = all
        .map(({ minutes, value, subject }) => point(minutes, value !== null && value > 5, value, subject))
        .toSorted((a, b) => a.at.getTime() - b.at.getTime())
      const moments = replayRule({ points, facts: [] }, { cooldownMs: cooldown * MINUTE, endsWithoutPoint: false })
      const last = new Map<string, number>()
      for (const { at, subject, value } of moments) {
        expect(at.getTime() - (last.get(subject) ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(cooldown * MINUTE)
        expect(value).toBeGreaterThan(5)
        last.set(subject, at.getTime())
      }
      const holding = new Set(points.filter(({ holds }) => holds).map(({ subject }) => subject))
      expect(new Set(moments.map(({ subject }) => subject))).toEqual(holding)
    }),
  )
})
