import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeRelease, type VerdictFacts } from './verdict.ts'

const facts = (over: Partial<VerdictFacts> = {}): VerdictFacts => ({
  state: 'open',
  received: 'sessions',
  sessions: { sessions: 100_000, crashed: 100 },
  previous: null,
  comparison: null,
  regressions: 0,
  adoption: 0.4,
  isSucceeded: false,
  ...over,
})
const of = (sessions: number, crashed: number) => ({ sessions, crashed })

describe('the verdict', () => {
  test.each<[string, Partial<VerdictFacts>, string]>([
    ['no sessions', { sessions: null }, 'no_sessions'],
    ['none in the range', { sessions: of(0, 0) }, 'no_sessions'],
    ['planned, nothing received', { state: 'planned', sessions: null }, 'planned'],
    ['archived, however bad', { state: 'archived', sessions: of(5_000, 5_000) }, 'archived'],
    ['999 sessions, all crashed', { sessions: of(999, 999) }, 'too_early'],
    ['1,000 sessions', { sessions: of(1_000, 0) }, 'healthy'],
    ['98.9 %', { sessions: of(10_000, 110) }, 'hold'],
    ['99 %', { sessions: of(10_000, 100) }, 'watch'],
    ['99.4 %', { sessions: of(10_000, 60) }, 'watch'],
    ['99.5 %', { sessions: of(10_000, 50) }, 'healthy'],
    ['fell by 0.4 points', { sessions: of(100_000, 450), previous: { ...of(100_000, 50), version: '1' } }, 'hold'],
    ['fell by 0.2 points', { sessions: of(100_000, 250), previous: { ...of(100_000, 50), version: '1' } }, 'watch'],
    ['fell by chance', { sessions: of(1_000, 4), previous: { ...of(1_000, 1), version: '1' } }, 'healthy'],
    ['rose', { sessions: of(100_000, 50), previous: { ...of(100_000, 450), version: '1' } }, 'healthy'],
    ['a regressed issue', { regressions: 1 }, 'watch'],
    ['hardly used, a newer one is', { adoption: 0.04, isSucceeded: true }, 'replaced'],
    ['hardly used, but the newest', { adoption: 0.04 }, 'healthy'],
    ['much used beside a newer one', { adoption: 0.05, isSucceeded: true }, 'healthy'],
  ])('%s', (_name, over, verdict) => {
    expect(judgeRelease(facts(over)).verdict).toBe(verdict)
  })

  test('gives the reason in one sentence', () => {
    const { verdict_reason: reason } = judgeRelease(
      facts({ sessions: of(100_000, 450), previous: { ...of(100_000, 50), version: '4.11.3' } }),
    )
    expect(reason).toBe('Crash-free sessions fell by 0.40 points compared with 4.11.3.')
  })

  test.each([
    ['crash_free_sessions', facts({ sessions: of(10_000, 300) })],
    ['fall', facts({ sessions: of(100_000, 450), previous: { ...of(100_000, 50), version: '1' } })],
    ['regressions', facts({ sessions: of(10_000, 0), regressions: 2 })],
    ['sessions', facts({ sessions: of(999, 0) })],
    [null, facts({ sessions: null, received: 'nothing' })],
  ] as const)('names the number that decided: %s', (decidedBy, given) => {
    expect(judgeRelease(given).verdict_numbers.decided_by).toBe(decidedBy)
  })

  const atAge = (version: string, sessions: number, crashed: number) => ({
    version,
    sessions,
    crashed,
    adoption: null,
    users: null,
    crash_free_sessions: 1 - crashed / sessions,
    crash_free_users: null,
  })

  test('compares at equal age where both releases had enough sessions by then, and says with which numbers', () => {
    const range = { sessions: of(100_000, 450), previous: { ...of(100_000, 50), version: '1' } }
    const early = { age_hours: 5, release: atAge('2', 10_000, 45), previous: atAge('1', 10_000, 44) }
    const judged = judgeRelease(facts({ ...range, comparison: early }))
    // Over the range it fell by 0.40 points.
    expect(judged.verdict).toBe('healthy')
    expect(judged.verdict_numbers).toMatchObject({ is_significant: false, previous: '1', age_hours: 5, regressions: 0 })
    expect(judged.verdict_numbers.fall).toBeCloseTo(0.0001, 10)
    const few = { age_hours: 1, release: atAge('2', 999, 0), previous: atAge('1', 10_000, 44) }
    const overRange = judgeRelease(facts({ ...range, comparison: few })).verdict_numbers
    expect(overRange).toMatchObject({ is_significant: true, age_hours: null, sessions: 100_000 })
    expect(overRange.fall).toBeCloseTo(0.004, 10)
  })

  test.each([
    ['nothing', 'No event or session has arrived yet.'],
    ['no_sessions', 'sends no sessions'],
    ['sessions', 'no sessions in this time range'],
  ] as const)('names the reason for missing sessions: %s', (received, words) => {
    expect(judgeRelease(facts({ sessions: null, received })).verdict_reason).toContain(words)
  })

  test('one more crash never improves the verdict', () => {
    const order = ['healthy', 'watch', 'hold']
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 1_000_000 }),
        fc.integer({ min: 0, max: 999 }),
        fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: null }),
        (sessions, crashed, before) => {
          const previous = before === null ? null : { version: '1', sessions: 10_000, crashed: before }
          const rank = (count: number) =>
            order.indexOf(judgeRelease(facts({ sessions: of(sessions, count), previous })).verdict)
          expect(rank(crashed + 1)).toBeGreaterThanOrEqual(rank(crashed))
        },
      ),
    )
  })
})
