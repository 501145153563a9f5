import { factKind } from '../../history/facts/kinds.ts'
import { ISSUE_STATUSES } from '#shared/issue-values.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import type { ReleaseFacts } from '../../projects/releases/order.ts'
import { AUTOMATIC, history, RELEASES, type HistoryStep, type TestEvent } from './life-cycle.fixture.ts'
import {
  newIssue,
  commitReleased,
  countHour,
  decide,
  onEvents,
  onTime,
  type Life,
  type ArrivedEvent,
  type ArrivedEvents,
  type Transition,
} from './life-cycle.ts'
import { nextAfter, type Fix } from './resolution.ts'

/** Random histories of the state machine never break its rules. */

const HISTORIES = cases(5_000, 100_000)
const START = Date.parse('2026-11-20T12:00:00Z')
const DAY_MS = 86_400_000
const STATUSES: ReadonlySet<string> = new Set(ISSUE_STATUSES)

/** Runs a history and checks every step. It throws errors itself, because matchers are slower than the steps. */
class Walk {
  life: Life = newIssue(new Date(START)).life
  nowMs = START
  lastSeenMs = START
  lastSpikeMs = Number.NEGATIVE_INFINITY
  count = 0
  readonly moves: string[] = []
  readonly releases = new Map<string, ReleaseFacts>()
  readonly users = new Set<number>()

  get now(): Date {
    return new Date(this.nowMs)
  }

  step(step: HistoryStep): void {
    // Each step has its own time.
    this.nowMs += 1
    switch (step.kind) {
      case 'wait':
        this.nowMs += step.ms
        return
      case 'events':
        return this.events(step.events)
      case 'burst':
        this.count += step.events
        return this.take(countHour(this.life, { events: step.events, limit: 50 }, this.now))
      case 'time':
        return this.take(onTime(this.life, { now: this.now, lastSeen: new Date(this.lastSeenMs), autoResolveDays: 14 }))
      case 'status':
        return this.decided(decide(this.life, { status: step.status }, 'Ada decided.', this.now))
      case 'fix':
        return this.decided(
          decide(this.life, { status: 'resolved', fix: this.fixOf(step.fix) }, 'Ada resolved this issue.', this.now),
        )
      case 'ignore': {
        const { inMs, ...rest } = step.until
        const until = inMs === undefined ? rest : { ...rest, time: new Date(this.nowMs + inMs).toISOString() }
        const sentence = 'Ada ignored this issue.'
        return this.decided(decide(this.life, { status: 'ignored', until }, sentence, this.now))
      }
      case 'released': {
        const { life } = commitReleased(this.life, ['3.0.2'])
        check(life.status === this.life.status, 'a release does not change the status')
        this.life = life
      }
    }
  }

  fixOf(fix: Extract<HistoryStep, { kind: 'fix' }>['fix']): Fix {
    if (fix === 'now') return { kind: 'now' }
    if (fix === 'commit') return { kind: 'commit', sha: 'abcdef1' }
    if (fix === 'next') return nextAfter([...this.releases.values()].toReversed())
    return { kind: 'release', versions: fix.map((index) => RELEASES[index] ?? '') }
  }

  events(events: readonly TestEvent[]): void {
    const newUsers = new Map<number, Date>()
    const seen = events.map((event, index): ArrivedEvent => {
      const firstAt = new Date(this.nowMs - event.agoMs)
      const known = newUsers.get(event.user)
      if (!this.users.has(event.user) && (known === undefined || firstAt < known)) newUsers.set(event.user, firstAt)
      return {
        eventId: `${this.count}${index}`.padStart(32, '0'),
        occurredAt: new Date(this.nowMs - event.agoMs),
        release: RELEASES[event.release] ?? null,
      }
    })
    for (const user of newUsers.keys()) this.users.add(user)
    this.count += seen.length
    for (const { release } of seen)
      if (release !== null && !this.releases.has(release))
        this.releases.set(release, { version: release, releasedAt: null, firstSeenAt: this.now })
    const arrived: ArrivedEvents = { events: seen, newUsers: [...newUsers.values()], releases: this.releases }
    const life = this.life
    const step = onEvents(life, arrived, this.now)
    this.checkPermuted(life, arrived, step)
    const { resolved } = life
    if (resolved !== null && step.life.status === 'regressed') {
      const named = seen.find((event) => event.eventId === step.facts[0]?.data['event_id'])
      check(named !== undefined && named.occurredAt > resolved.at, 'never regressed by a late event')
      check(!isPlainlyOlder(named?.release ?? null, resolved.fix), 'never regressed by a release older than the fix')
      const { firstSeenAt = null } = this.releases.get(named?.release ?? '') ?? {}
      if (resolved.fix.kind === 'next')
        check(firstSeenAt !== null && firstSeenAt > resolved.at, 'the next release is newer than the resolution')
    }
    if (resolved !== null && seen.every((event) => event.occurredAt <= resolved.at))
      check(step.life.status === 'resolved', 'late events leave it resolved')
    if (resolved !== null && step.life.resolved !== null) {
      const [was, is] = [resolved.late, step.life.resolved.late]
      check(
        (is?.before ?? 0) + (is?.unfixed ?? 0) === (was?.before ?? 0) + (was?.unfixed ?? 0) + seen.length,
        'every late event is counted',
      )
      check(step.facts.length === 1 && (was === null || was.entryId === is?.entryId), 'one entry counts them')
    }
    this.lastSeenMs = Math.max(this.lastSeenMs, ...seen.map((event) => event.occurredAt.getTime()))
    this.take(step)
  }

  /** The order of the events in a batch does not matter. */
  checkPermuted(life: Life, arrived: ArrivedEvents, step: Transition): void {
    if (arrived.events.length < 2) return
    // Single events lead to the same status as one batch.
    const alone = arrived.events
      .toSorted((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
      .reduce((last, event) => onEvents(last, { ...arrived, events: [event], newUsers: [] }, this.now).life, life)
    if (life.ignored?.until?.users === undefined)
      check(alone.status === step.life.status, 'the size of batches does not matter')
    const other = onEvents(life, { ...arrived, events: arrived.events.toReversed() }, this.now)
    check(withoutIds(other) === withoutIds(step), 'the order within a batch does not matter')
  }

  /** Checks an automatic transition. */
  take(step: Transition): void {
    const { life } = this
    const { status } = step.life
    if (status !== life.status) {
      this.moves.push(`${life.status} → ${status}`)
      check(AUTOMATIC[life.status].includes(status), `no automatic change from ${life.status} to ${status}`)
      const [fact] = step.facts
      check(
        step.facts.length === 1 && fact !== undefined && factKind(fact.kind).activity === 'status_changed',
        'every automatic change is in the activity',
      )
      check(fact?.data['from'] === life.status && fact.data['to'] === status, 'the entry names both statuses')
      check(
        step.life.reason === fact?.sentence && /^[A-Z].{10,}\.$/u.test(fact?.sentence ?? ''),
        'the entry has a sentence',
      )
      check(step.life.changedAt.getTime() === this.nowMs, 'the change has a time')
      check((status === 'regressed') === (fact?.kind === 'issue.regressed'), 'a regression is a fact')
      check((status === 'escalated') === (fact?.kind === 'issue.escalated'), 'a spike is a fact')
      if (status === 'escalated') {
        check(this.nowMs - this.lastSpikeMs >= DAY_MS, 'at most one escalation in 24 hours')
        this.lastSpikeMs = this.nowMs
      }
    } else {
      check(
        step.facts.every(({ kind }) => factKind(kind).activity !== 'status_changed'),
        'no fact about the status without a change of it',
      )
      check(step.life.reason === life.reason, 'no new reason without a change of the status')
    }
    this.hold(step)
  }

  decided(step: Transition): void {
    check(step.life === this.life || step.facts.length === 1, 'a change by a member adds one entry, a repetition none')
    this.hold(step)
  }

  hold({ life }: Transition): void {
    check(STATUSES.has(life.status), 'a status of the table')
    check((life.resolved !== null) === (life.status === 'resolved'), 'a resolution exactly while resolved')
    check((life.ignored !== null) === (life.status === 'ignored'), 'a condition exactly while ignored')
    this.life = life
  }
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`broken: ${what}`)
}

const withoutIds = (step: Transition): string =>
  JSON.stringify(step, (key, value: unknown) => (key === 'id' || key === 'entryId' ? undefined : value))

/** An independent comparison of plain versions with one fix. */
function isPlainlyOlder(release: string | null, fix: Fix): boolean {
  if (fix.kind === 'now') return false
  if (release === null || fix.kind === 'commit') return true
  const numbers = (version: string) => /^(\d+)\.(\d+)\.(\d+)$/.exec(version)?.slice(1).map(Number)
  const [a, fixes] = [numbers(release), fix.kind === 'release' ? fix.versions.map(numbers) : []]
  if (a === undefined || fixes.length !== 1) return false
  const [b] = fixes
  if (b === undefined) return false
  const at = [0, 1, 2].find((index) => a[index] !== b[index])
  return at !== undefined && (a[at] ?? 0) < (b[at] ?? 0)
}

test('no random history breaks a rule', { timeout: PROPERTY_TIMEOUT_MS }, () => {
  const moves = new Map<string, number>()
  fc.assert(
    fc.property(history(14), (steps) => {
      const walk = new Walk()
      for (const step of steps) walk.step(step)
      for (const move of walk.moves) moves.set(move, (moves.get(move) ?? 0) + 1)
    }),
    { numRuns: HISTORIES },
  )
  // Every automatic change occurs often enough.
  const table = Object.entries(AUTOMATIC).flatMap(([from, to]) => to.map((status) => `${from} → ${status}`))
  expect([...moves.keys()].toSorted()).toEqual(table.toSorted())
  expect(Math.min(...moves.values())).toBeGreaterThan(HISTORIES / 2_500)
})
