import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countTowards, noProgress, untilPhrase, type IgnoreUntil } from './ignoring.ts'
import { minuteText } from './issue.ts'
import type { IssueStatus } from './issue.api.ts'
import { lifeColumns, lifeFrom } from './life-columns.ts'
import {
  newIssue,
  commitReleased,
  countHour,
  decide,
  onEvents,
  onTime,
  type Decision,
  type Life,
  type ArrivedEvent,
  hourlyLimit,
  floorToHour,
  type HourHistory,
} from './life-cycle.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const T0 = new Date('2026-11-20T12:00:00Z')
const later = (ms: number): Date => new Date(T0.getTime() + ms)

const decided = (decision: Decision, from: Life = newIssue(T0).life): Life =>
  decide(from, decision, 'Ada did it.', T0).life
const resolved = (...versions: string[]): Life =>
  decided({ status: 'resolved', fix: versions.length === 0 ? { kind: 'now' } : { kind: 'release', versions } })
const seen = (eventId: string, ms: number, release: string | null = null): ArrivedEvent => ({
  eventId: eventId.repeat(32).slice(0, 32),
  occurredAt: later(ms),
  release,
})
/** New users have the time of the first event. */
const arrive = (life: Life, events: ArrivedEvent[], newUsers = 0, at = later(HOUR_MS)) =>
  onEvents(
    life,
    { events, newUsers: Array.from({ length: newUsers }, () => events[0]?.occurredAt ?? at), releases: new Map() },
    at,
  )

describe('a resolved issue', () => {
  test('regresses with an event after the resolution, and the reason names the event', () => {
    const { life, facts } = arrive(resolved(), [seen('a', 60_000, 'shop@2.0')])
    expect(life).toMatchObject({ status: 'regressed', resolved: null })
    expect(life.reason).toBe(
      'Regressed: event aaaaaaaa from release shop@2.0 happened after it was resolved on 20 Nov 2026 12:00 UTC.',
    )
    expect(facts).toMatchObject([{ kind: 'issue.regressed', data: { from: 'resolved', to: 'regressed' } }])
  })

  test('names the fix and the earliest event without it, not the newest of the batch', () => {
    const { life, facts } = arrive(resolved('2.3.1'), [
      seen('d', 9_000, '2.2.0'),
      seen('c', 8_000, '2.5.0'),
      seen('b', 7_000, '2.4.0'),
      seen('a', -7_000, '2.4.0'),
    ])
    expect(life.reason).toBe('Regressed: event bbbbbbbb from release 2.4.0, fixed in 2.3.1.')
    expect(facts[0]?.data).toMatchObject({ fixed_in: ['2.3.1'], release: '2.4.0', event_id: 'b'.repeat(32) })
    // In the same batch: one event from before, one without the fix.
    expect(facts[0]?.data['late_events']).toBe(2)
  })

  test('stays resolved with late events and older releases, which one entry counts', () => {
    const first = arrive(resolved('2.3.1'), [seen('a', -1, '2.4.0'), seen('b', 1, '2.3.0')])
    expect(first.life).toMatchObject({ status: 'resolved', resolved: { late: { before: 1, unfixed: 1 } } })
    expect(first.facts).toMatchObject([
      {
        kind: 'issue.late_events_received',
        sentence:
          'Late events are counted and do not reopen this issue: 1 event happened before it was resolved and 1 event comes from 2.3.0, which does not have the fix.',
      },
    ])
    const second = arrive(first.life, [seen('c', 2, null), seen('d', 3, '2.3.0')])
    expect(second.life.resolved?.late).toMatchObject({ before: 1, unfixed: 3, unnamed: 1 })
    expect(second.facts[0]?.sentence).toBe(
      'Late events are counted and do not reopen this issue: 1 event happened before it was resolved, 1 event names no release and 2 events come from releases without the fix, such as 2.3.0.',
    )
    expect(second.facts[0]).toMatchObject({ entryId: first.life.resolved?.late?.entryId })
    expect(first.facts[0]).toMatchObject({ entryId: second.life.resolved?.late?.entryId })
    expect(second.life.reason).toBe(first.life.reason)
  })

  test('does not regress with an event of the same millisecond as the resolution', () => {
    expect(arrive(resolved(), [seen('a', 0)]).life.status).toBe('resolved')
    expect(arrive(resolved(), [seen('a', 1)]).life.status).toBe('regressed')
  })

  test('waits for a release with its commit, which becomes the fix', () => {
    const waiting = decided({ status: 'resolved', fix: { kind: 'commit', sha: 'abcdef123456789' } })
    const met = arrive(waiting, [seen('a', 1, '9.0.0')])
    expect(met.life.status).toBe('resolved')
    expect(met.facts[0]?.sentence).toBe(
      'Late events are counted and do not reopen this issue: 1 event comes from 9.0.0, which is not known to have the fix.',
    )
    expect(arrive(met.life, [seen('b', 2, '9.0.0')]).facts[0]?.sentence).toContain(
      '2 events come from releases not known to have the fix, such as 9.0.0.',
    )
    const { life, facts } = commitReleased(met.life, ['2.4.0'])
    expect(facts[0]?.sentence).toBe('Fixed in 2.4.0: commit abcdef123456 is part of it.')
    // The late events were counted against the former fix.
    expect(life.resolved?.late).toBeNull()
    expect(commitReleased(met.life, ['2.4.0', '3.0.0']).facts[0]?.sentence).toContain('is part of them.')
    expect(arrive(life, [seen('a', 1, '2.3.9')]).life.status).toBe('resolved')
    expect(arrive(life, [seen('a', 1, '2.4.0')]).life.status).toBe('regressed')
  })
})

describe('an ignored issue', () => {
  const ignored = (until: IgnoreUntil | null) => decided({ status: 'ignored', until })

  test('without a condition stays ignored', () => {
    expect(arrive(ignored(null), [seen('a', 1)], 1).life.status).toBe('ignored')
    expect(onTime(ignored(null), { now: later(400 * DAY_MS), lastSeen: T0, autoResolveDays: 1 }).life.status).toBe(
      'ignored',
    )
    expect(countHour(ignored(null), { events: 1e6, limit: 10 }, T0).life.status).toBe('ignored')
  })

  test('until a number of events, without late ones', () => {
    const { life } = arrive(ignored({ count: 3 }), [seen('a', 1), seen('b', 2), seen('c', -1)])
    expect(life).toMatchObject({ status: 'ignored', ignored: { progress: { events: 2 } } })
    expect(arrive(life, [seen('d', 3)]).life).toMatchObject({
      status: 'unresolved',
      reason: 'Reopened after 3 more events: it was ignored until then.',
    })
  })

  test('until a number of users within a window, by the time of the events', () => {
    const until = { users: 2, window: 60 }
    const one = arrive(ignored(until), [seen('a', 1)], 1, later(HOUR_MS))
    expect(arrive(one.life, [seen('b', 1 + HOUR_MS)], 1, later(2 * HOUR_MS)).life.status).toBe('ignored')
    expect(arrive(one.life, [seen('b', HOUR_MS)], 1, later(9 * HOUR_MS)).life.reason).toBe(
      'Reopened after 2 more users within 60 minutes: it was ignored until then.',
    )
  })

  test('until a time', () => {
    const life = ignored({ time: later(DAY_MS).toISOString(), count: 1000 })
    const after = (ms: number) => onTime(life, { now: later(ms), lastSeen: T0, autoResolveDays: 14 }).life
    expect(after(DAY_MS - 1).status).toBe('ignored')
    expect(after(DAY_MS)).toMatchObject({
      status: 'unresolved',
      reason: 'Reopened: it was ignored until 21 Nov 2026 12:00 UTC.',
    })
  })

  test('until it escalates', () => {
    const step = countHour(ignored({ escalating: true }), { events: 61, limit: 60 }, T0)
    expect(step.life).toMatchObject({ status: 'escalated', ignored: null })
    expect(step.facts).toMatchObject([{ kind: 'issue.escalated' }])
  })

  const times = (count: number, ms: number) => Array.from({ length: count }, () => later(ms))
  const MINUTE_MS = 60_000

  test('a small window is exact to the millisecond', () => {
    const until = { count: 3, window: 60 }
    const two = countTowards(noProgress(T0), until, [later(MINUTE_MS), later(30 * MINUTE_MS)], []).progress
    expect(countTowards(two, until, [later(61 * MINUTE_MS - 1)], []).met).toBe('count')
    expect(countTowards(two, until, [later(61 * MINUTE_MS)], []).met).toBeNull()
  })

  test('a large window drops old events in parts, and is never too long', () => {
    const until = { count: 970, window: 120 }
    let progress = noProgress(T0)
    for (let minute = 0; minute < 600; minute++) {
      const counted = countTowards(progress, until, times(8, minute * MINUTE_MS), [])
      // 120 minutes of eight are 960.
      expect(counted.met).toBeNull()
      progress = counted.progress
      expect(progress.window.length).toBeLessThanOrEqual(120)
    }
    expect(progress.events).toBe(4_800)
    expect(countTowards(progress, until, times(10, 599 * MINUTE_MS), []).met).toBe('count')
  })

  test('a small window gives the same result for any batches as one count of all events', () => {
    const minutes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(minutes, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 60 }), (at, count, window) => {
        const all = at.toSorted((a, b) => a - b)
        const isMet = all.some((end) => all.filter((start) => start <= end && start > end - window).length >= count)
        let progress = noProgress(T0)
        let met: string | null = null
        // Batches of three, each in reverse order.
        for (let from = 0; from < all.length && met === null; from += 3) {
          const batch = all.slice(from, from + 3).toReversed()
          const counted = countTowards(
            progress,
            { count, window },
            batch.map((minute) => later(minute * MINUTE_MS)),
            [],
          )
          ;({ progress, met } = counted)
        }
        expect(met).toBe(isMet ? 'count' : null)
      }),
    )
  })

  test('a burst hours ago in a batch counts; the same number of events over hours does not', () => {
    const until = { count: 5, window: 10 }
    const slow = Array.from({ length: 40 }, (_, index) => later((1 + index * 3) * MINUTE_MS))
    expect(countTowards(noProgress(T0), until, slow, []).met).toBeNull()
    const burst = [...slow, ...times(4, 30 * MINUTE_MS)]
    expect(countTowards(noProgress(T0), until, burst.toReversed(), []).met).toBe('count')
  })

  test('a user whose event is late is not a further user', () => {
    const life = ignored({ users: 2 })
    const events = [seen('a', 1), seen('b', -1), seen('c', -2)]
    const late = [later(-1), later(-2)]
    const step = onEvents(life, { events, newUsers: [later(1), ...late], releases: new Map() }, later(HOUR_MS))
    expect(step.life).toMatchObject({ status: 'ignored', ignored: { progress: { events: 1, users: 1 } } })
  })

  test('after its time, the next event reopens it before the sweep does', () => {
    const life = ignored({ time: later(HOUR_MS).toISOString() })
    expect(arrive(life, [seen('a', HOUR_MS)], 0, later(HOUR_MS - 1)).life.status).toBe('ignored')
    expect(arrive(life, [seen('a', HOUR_MS)], 0, later(HOUR_MS)).life).toMatchObject({
      status: 'unresolved',
      reason: 'Reopened: it was ignored until 20 Nov 2026 13:00 UTC.',
    })
  })

  test('has a phrase for its conditions', () => {
    const until = { time: T0.toISOString(), count: 1, users: 2_000, window: 1, escalating: true } as const
    expect(untilPhrase(until, minuteText)).toBe(
      ' until 20 Nov 2026 12:00 UTC, or until 1 more event within 1 minute, or until 2,000 more users within 1 minute, or until it escalates',
    )
  })
})

describe('escalating', () => {
  const history = (over: Partial<HourHistory>): HourHistory => ({
    hour: floorToHour(T0),
    firstSeen: later(-30 * DAY_MS),
    busyHours: 0,
    sum: 0,
    sumOfSquares: 0,
    largest: 0,
    busyMedian: 0,
    ...over,
  })
  test.each([
    ['no history', {}, 10],
    ['one event per hour', { busyHours: 336, sum: 336, sumOfSquares: 336, largest: 1, busyMedian: 1 }, 10],
    [
      '100 events per hour',
      { busyHours: 336, sum: 33_600, sumOfSquares: 3_360_000, largest: 100, busyMedian: 100 },
      500,
    ],
    // 33 busy hours of 100: mean 9.82, deviation 29.76.
    ['bursts', { busyHours: 33, sum: 3_300, sumOfSquares: 330_000, largest: 100, busyMedian: 100 }, 500],
    ['one huge hour', { busyHours: 1, sum: 3_360, sumOfSquares: 3_360 ** 2, largest: 3_360, busyMedian: 0 }, 925],
    ['new, few events', { firstSeen: later(-DAY_MS), largest: 4, busyHours: 2, sum: 5 }, 50],
    ['new, many events', { firstSeen: later(-DAY_MS), largest: 40, busyHours: 2, sum: 50 }, 400],
    ['the maximum of the column', { firstSeen: later(-DAY_MS), largest: 2_000_000_000 }, 2_000_000_000],
  ])('%s', (_, over, limit) => {
    expect(hourlyLimit(history(over))).toBe(limit)
  })

  test('only above the limit, at most once in 24 hours', () => {
    const open = newIssue(T0).life
    expect(countHour(open, { events: 50, limit: 50 }, T0).life).toBe(open)
    const { life } = countHour(open, { events: 1_200, limit: 50 }, T0)
    expect(life.reason).toBe('Escalated: 1,200 events within an hour, above the limit of 50.')
    const again = decide(life, { status: 'unresolved' }, 'Ada reopened it.', later(HOUR_MS)).life
    expect(countHour(again, { events: 9_999, limit: 50 }, later(DAY_MS - 1)).life.status).toBe('unresolved')
    expect(countHour(again, { events: 9_999, limit: 50 }, later(DAY_MS)).life.status).toBe('escalated')
  })

  test('ends 7 days after the newest hour above the limit', () => {
    const { life } = countHour(newIssue(T0).life, { events: 60, limit: 50 }, T0)
    const still = countHour(life, { events: 60, limit: 50 }, later(3 * DAY_MS)).life
    const at = (ms: number) => onTime(still, { now: later(ms), lastSeen: later(ms), autoResolveDays: 14 }).life
    expect(at(10 * DAY_MS - 1).status).toBe('escalated')
    expect(at(10 * DAY_MS)).toMatchObject({ status: 'unresolved', openSince: T0 })
  })
})

describe('auto-resolve', () => {
  const after = (life: Life, days: number, lastSeen = T0, autoResolveDays = 14) =>
    onTime(life, { now: later(days * DAY_MS), lastSeen, autoResolveDays })
  test('resolves after the days without an event, marked as automatic; the next event is a regression', () => {
    expect(after(newIssue(T0).life, 13.99).life.status).toBe('unresolved')
    const { life, facts } = after(newIssue(T0).life, 14)
    expect(life).toMatchObject({ status: 'resolved', resolved: { automatic: true } })
    expect(life.reason).toBe('Resolved automatically: no event for 14 days, the last one on 20 Nov 2026 12:00 UTC.')
    expect(facts[0]?.data).toMatchObject({ automatic: true, cause: 'auto_resolve' })
    const back = arrive(life, [seen('a', 15 * DAY_MS)], 0, later(15 * DAY_MS))
    expect(back.life.reason).toContain('resolved automatically on 4 Dec 2026')
  })
  test('does nothing if it is off, and counts from when a member reopened the issue', () => {
    expect(after(newIssue(T0).life, 1000, T0, 0).life.status).toBe('unresolved')
    const reopened = decide(resolved(), { status: 'unresolved' }, 'Ada reopened it.', later(20 * DAY_MS)).life
    expect(after(reopened, 21).life.status).toBe('unresolved')
    expect(after(reopened, 34).life.status).toBe('resolved')
  })
})

describe('a member', () => {
  test('may change every status to every other; the same status changes nothing', () => {
    const statuses: IssueStatus[] = ['unresolved', 'resolved', 'ignored', 'regressed', 'escalated']
    for (const from of statuses)
      for (const to of statuses) {
        const life = decided({ status: from })
        const step = decide(life, { status: to }, 'Ada did it.', later(1))
        expect(step.life === life, `${from} → ${to}`).toBe(from === to)
        expect(step.facts).toHaveLength(from === to ? 0 : 1)
      }
  })
  test('another fix or condition is a change, the same one is not', () => {
    const life = resolved('2.3.1')
    const fix = (versions: string[]): Decision => ({ status: 'resolved', fix: { kind: 'release', versions } })
    expect(decided(fix(['2.3.1']), life)).toBe(life)
    expect(decided({ status: 'resolved' }, life)).toBe(life)
    expect(decided(fix(['2.3.2']), life)).not.toBe(life)
    expect(decided({ status: 'resolved', fix: { kind: 'now' } }, life)).not.toBe(life)
    const ignored = decided({ status: 'ignored', until: { count: 3 } })
    expect(decided({ status: 'ignored', until: { count: 3 } }, ignored)).toBe(ignored)
    expect(decided({ status: 'ignored' }, ignored)).toBe(ignored)
    expect(decided({ status: 'ignored', until: null }, ignored).ignored?.until).toBeNull()
  })
})

test('a state is read from its columns as written; an unreadable resolution or condition counts as none', () => {
  const lives = [
    newIssue(T0).life,
    arrive(resolved('2.3.1', '3.0.2'), [seen('a', -1)]).life,
    decided({ status: 'resolved', fix: { kind: 'next', after: null } }),
    arrive(decided({ status: 'ignored', until: { users: 5, window: 60, count: 9 } }), [seen('a', 1)], 1).life,
    countHour(newIssue(T0).life, { events: 60, limit: 50 }, T0).life,
  ]
  for (const life of lives) {
    const columns = lifeColumns(life)
    const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
    const row = { ...columns, resolution: json(columns.resolution), ignore_until: json(columns.ignore_until) }
    expect(lifeFrom({ ...row, ignore_progress: json(columns.ignore_progress) })).toEqual(life)
  }
  const odd = { ...lifeColumns(resolved('1')), resolution: { kind: 'magic' } }
  expect(lifeFrom(odd).resolved?.fix).toEqual({ kind: 'now' })
  const strange = { ...lifeColumns(decided({ status: 'ignored' })), ignore_until: 7, ignore_progress: [] }
  expect(lifeFrom(strange).ignored?.until).toBeNull()
})
