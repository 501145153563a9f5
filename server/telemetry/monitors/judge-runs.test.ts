import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type JudgedOf, judgeRuns, type Timing } from './judge-runs.ts'

const at = (text: string): Date => new Date(`2026-11-${text}Z`)
const since = at('01T00:00:00')
const base: Timing = {
  schedule: { type: 'crontab', value: '0 3 * * *' },
  timezone: 'UTC',
  graceMinutes: 5,
  limitMinutes: 30,
  failures: 1,
  recoveries: 1,
}
const minutes = (count: number): Timing['schedule'] => ({ type: 'interval', value: count, unit: 'minute' })

let ids = 0
function run(begin: string, over: Partial<JudgedOf> & { readonly tookMs?: number } = {}): JudgedOf {
  const { tookMs = 60_000, ...rest } = over
  const startedAt = at(begin)
  return {
    id: String(++ids).padStart(32, '0'),
    status: 'ok',
    release: null,
    traceId: null,
    durationMs: null,
    startedAt,
    finishedAt: rest.status === 'in_progress' ? null : new Date(startedAt.getTime() + tookMs),
    receivedAt: startedAt,
    ...rest,
  }
}
const kinds = (timing: Timing, runs: readonly JudgedOf[], now: string, from = since) =>
  judgeRuns(timing, runs, { since: from, now: at(now), max: 30 }).runs.map(({ kind }) => kind)

describe('a crontab', () => {
  const from = at('09T12:00:00')

  test.each([
    ['on time', [run('10T03:00:01')], '10T04:00:00', ['ok']],
    ['a little early, by its own clock', [run('10T02:59:30')], '10T04:00:00', ['ok']],
    ['within the grace', [run('10T03:04:59')], '10T04:00:00', ['ok']],
    ['after the grace', [run('10T03:05:01')], '10T04:00:00', ['late']],
    ['hours after the grace', [run('10T20:00:00')], '10T21:00:00', ['late']],
    ['not yet, within the grace', [], '10T03:04:00', []],
    ['not at all', [], '10T03:05:01', ['missed']],
    ['not at all, for three days', [], '12T04:00:00', ['missed', 'missed', 'missed']],
    ['failed', [run('10T03:00:00', { status: 'error' })], '10T04:00:00', ['failed']],
    ['too long', [run('10T03:00:00', { tookMs: 31 * 60_000 })], '10T04:00:00', ['long']],
    ['running', [run('10T03:00:00', { status: 'in_progress' })], '10T03:20:00', ['running']],
    ['running for too long', [run('10T03:00:00', { status: 'in_progress' })], '10T03:31:00', ['long']],
    ['on time and once by hand', [run('10T03:00:00'), run('10T09:00:00')], '10T10:00:00', ['ok', 'ok']],
    ['by hand, failed', [run('10T03:00:00'), run('10T09:00:00', { status: 'error' })], '10T10:00:00', ['ok', 'failed']],
    ['one missed between two', [run('10T03:00:00'), run('12T03:01:00')], '12T04:00:00', ['ok', 'missed', 'ok']],
  ] as const)('%s', (_name, runs, now, expected) => {
    expect(kinds(base, runs, now, from)).toEqual(expected)
  })

  test('a late check-in turns a missed run into a late one', () => {
    expect(kinds(base, [], '10T03:10:00', from)).toEqual(['missed'])
    expect(kinds(base, [run('10T03:12:00')], '10T03:13:00', from)).toEqual(['late'])
  })

  test('the next run is in the time zone of the job, over the change of clocks', () => {
    const berlin = { ...base, timezone: 'Europe/Berlin', schedule: { type: 'crontab', value: '30 2 * * *' } } as const
    const next = (now: string) => judgeRuns(berlin, [], { since, now: new Date(now), max: 30 }).nextAt?.toISOString()
    expect(next('2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00:00.000Z')
    expect(next('2026-10-25T00:20:00Z')).toBe('2026-10-25T00:30:00.000Z')
    expect(next('2026-10-25T00:40:00Z')).toBe('2026-10-26T01:30:00.000Z')
  })

  test('a schedule is not judged before it was known', () => {
    expect(kinds(base, [], '12T04:00:00', at('11T12:00:00'))).toEqual(['missed'])
  })
})

describe('an interval', () => {
  const timing = { ...base, schedule: minutes(10) }

  test('counts from the run before', () => {
    expect(kinds(timing, [run('10T03:00:00'), run('10T03:12:00'), run('10T03:22:00')], '10T03:25:00')).toEqual([
      'ok',
      'ok',
      'ok',
    ])
    expect(kinds(timing, [run('10T03:00:00'), run('10T03:18:00')], '10T03:20:00')).toEqual(['ok', 'late'])
    expect(kinds(timing, [run('10T03:00:00'), run('10T03:31:00')], '10T03:32:00')).toEqual([
      'ok',
      'missed',
      'missed',
      'ok',
    ])
    expect(kinds(timing, [run('10T03:00:00')], '10T03:14:00')).toEqual(['ok'])
    expect(kinds(timing, [run('10T03:00:00')], '10T03:26:00')).toEqual(['ok', 'missed', 'missed'])
  })

  test('without a run expects none: nothing says when it began', () => {
    expect(kinds(timing, [], '10T03:26:00')).toEqual([])
  })

  test('of months ends with the month', () => {
    const monthly = { ...base, schedule: { type: 'interval', value: 1, unit: 'month' } } as const
    const started = { ...run('10T03:00:00'), startedAt: new Date('2026-01-31T03:00:00Z'), finishedAt: null }
    const { nextAt } = judgeRuns(monthly, [started], {
      since: new Date('2026-01-01'),
      now: new Date('2026-02-01T00:00:00Z'),
      max: 5,
    })
    expect(nextAt?.toISOString()).toBe('2026-02-28T03:00:00.000Z')
  })
})

describe('the state', () => {
  const state = (timing: Timing, statuses: readonly ('ok' | 'error')[]) => {
    const runs = statuses.map((status, index) => run(`${10 + index}T03:00:00`, { status }))
    return judgeRuns(timing, runs, {
      since: at('09T12:00:00'),
      now: at(`${String(9 + statuses.length).padStart(2, '0')}T04:00:00`),
      max: 30,
    })
  }

  test('fails and recovers by its thresholds', () => {
    const timing = { ...base, failures: 2, recoveries: 2 }
    expect(state(timing, ['ok', 'error'])).toMatchObject({ kind: 'failed', isFailing: false, problem: null })
    expect(state(timing, ['ok', 'error', 'error'])).toMatchObject({ isFailing: true, problem: 'failed', inARow: 2 })
    expect(state(timing, ['ok', 'error', 'error', 'ok'])).toMatchObject({ kind: 'ok', isFailing: true })
    expect(state(timing, ['ok', 'error', 'error', 'ok', 'ok'])).toMatchObject({ kind: 'ok', isFailing: false })
    expect(state(timing, ['error', 'ok', 'error'])).toMatchObject({ isFailing: false })
  })

  test('since the first of the same kind', () => {
    expect(state(base, ['ok', 'error', 'error']).since).toEqual(at('11T03:00:00'))
    expect(state(base, [])).toMatchObject({ kind: null, since: null, isFailing: false })
  })

  test('without a schedule only what was reported counts', () => {
    const timing = { ...base, schedule: null }
    expect(kinds(timing, [run('10T03:00:00')], '20T03:00:00')).toEqual(['ok'])
    expect(judgeRuns(timing, [], { since, now: at('20T03:00:00'), max: 30 }).nextAt).toBeNull()
  })
})

test('every run is judged once, whatever order they come in, and no time has two', () => {
  const offsets = fc.array(fc.integer({ min: 0, max: 3 * 1_440 * 60 }), { maxLength: 20 })
  const schedules = fc.constantFrom<Timing['schedule']>({ type: 'crontab', value: '*/30 * * * *' }, minutes(45), null)
  fc.assert(
    fc.property(offsets, schedules, (seconds, schedule) => {
      const runs = seconds.map((offset) => {
        const startedAt = new Date(at('10T00:00:00').getTime() + offset * 1_000)
        return { ...run('10T00:00:00'), startedAt, receivedAt: startedAt, finishedAt: startedAt }
      })
      const bounds = { since: at('10T00:00:00'), now: at('13T00:00:00'), max: 200 }
      const judged = judgeRuns({ ...base, schedule }, runs, bounds)
      expect(judged.runs.flatMap((one) => one.run?.id ?? []).toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
      const expected = judged.runs.flatMap(({ expectedAt }) => expectedAt?.getTime() ?? [])
      expect(new Set(expected).size).toBe(expected.length)
      expect(judgeRuns({ ...base, schedule }, runs.toReversed(), bounds).kind).toBe(judged.kind)
    }),
    { numRuns: 100 },
  )
})
