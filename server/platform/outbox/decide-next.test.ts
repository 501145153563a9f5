import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { decideNext, type AfterAttempt } from './decide-next.ts'
import type { DeliveryState, Replay } from './delivery.ts'
import { DELAYS_MS } from './engine.fixture.ts'

const before = (changes: Partial<AfterAttempt> = {}): AfterAttempt => ({
  attempt: 0,
  isScheduled: true,
  leaseReplay: null,
  replay: null,
  endReason: null,
  ...changes,
})

describe('an attempt of the schedule', () => {
  test.each(DELAYS_MS.map((_, attempt) => attempt))(
    'number %i + 1 fails: the next is due after its delay',
    (attempt) => {
      const next = decideNext(before({ attempt }), 'failed', DELAYS_MS)
      const delayMs = [60_000, 300_000, 1_800_000, 7_200_000, 43_200_000][attempt]
      expect(next).toMatchObject({
        state: 'failed',
        attempt: attempt + 1,
        schedule: delayMs === undefined ? 'ends' : { delayMs },
        isExhausted: attempt === 5,
      })
    },
  )

  test('succeeds: the schedule ends', () => {
    expect(decideNext(before({ attempt: 3 }), 'delivered', DELAYS_MS)).toMatchObject({
      state: 'delivered',
      attempt: 4,
      schedule: 'ends',
    })
  })
})

describe('a replay', () => {
  test('that succeeds ends a running schedule, and counts as none of its attempts', () => {
    expect(decideNext(before({ attempt: 2, leaseReplay: 'once' }), 'delivered', DELAYS_MS)).toMatchObject({
      trigger: 'replay',
      state: 'delivered',
      attempt: 2,
      schedule: 'ends',
    })
  })

  test.each(['once', 'with_retries'] as const)('(%s) that fails leaves a running schedule as it is', (leaseReplay) => {
    expect(decideNext(before({ attempt: 2, leaseReplay }), 'failed', DELAYS_MS)).toMatchObject({
      state: 'failed',
      attempt: 2,
      schedule: 'stays',
    })
  })

  test('that fails after the end of the schedule begins a new one only with retries', () => {
    const ended = before({ attempt: 6, isScheduled: false })
    expect(decideNext({ ...ended, leaseReplay: 'once' }, 'failed', DELAYS_MS)).toMatchObject({ schedule: 'stays' })
    expect(decideNext({ ...ended, leaseReplay: 'with_retries' }, 'failed', DELAYS_MS)).toMatchObject({
      attempt: 1,
      schedule: { delayMs: 60_000 },
    })
  })
})

/** Steps that can happen to one delivery, in any order. */
type Step =
  | { readonly kind: 'claim' | 'crash' | 'succeed' | 'fail' | 'close'; readonly waitMs: number }
  | { readonly kind: 'replay'; readonly retries: boolean; readonly waitMs: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      waitMs: fc.constantFrom(0, 1, 60_000, 300_000, 1_800_000, 7_200_000, 43_200_000),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('fail' as const), waitMs: fc.constantFrom(0, 10_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('succeed' as const), waitMs: fc.constantFrom(0, 10_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const), waitMs: fc.constant(30_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('replay' as const), retries: fc.boolean(), waitMs: fc.constant(0) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), waitMs: fc.constant(0) }) },
)

/** A row as claims, settlements and replays change it, in memory. */
class Row {
  state: DeliveryState = 'pending'
  attempt = 0
  next: number | null = 0
  due: number | null = 0
  isLeased = false
  leaseReplay: Replay | null = null
  replay: Replay | null = null
  isClosed = false

  claim(now: number): boolean {
    if (this.due === null || this.due > now || this.isClosed) return false
    if (!this.isLeased) [this.leaseReplay, this.replay] = [this.replay, null]
    this.isLeased = true
    this.state = 'in_flight'
    this.due = now + 30_000
    return true
  }

  settle(now: number, outcome: 'delivered' | 'failed'): void {
    const next = decideNext(
      {
        attempt: this.attempt,
        isScheduled: this.next !== null,
        leaseReplay: this.leaseReplay,
        replay: this.replay,
        endReason: this.isClosed ? 'closed' : null,
      },
      outcome,
      DELAYS_MS,
    )
    this.state = next.state
    this.attempt = next.attempt
    if (next.schedule === 'ends') this.next = null
    else if (next.schedule !== 'stays') this.next = now + next.schedule.delayMs
    this.replay = next.replay
    this.due = this.replay === null ? this.next : now
    this.isLeased = false
    this.leaseReplay = null
  }

  askReplay(now: number, retries: boolean): boolean {
    if (this.isClosed) return false
    if (this.replay !== 'with_retries') this.replay = retries ? 'with_retries' : 'once'
    if (this.isLeased) return true
    this.state = 'pending'
    this.due = now
    return true
  }

  close(): void {
    this.isClosed = true
    if (this.isLeased || this.due === null) return
    Object.assign(this, { state: 'failed', next: null, due: null, replay: null })
  }
}

test(
  'T-45: no sequence of claims, results, crashes, replays and closings breaks the rules of the states',
  () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        const row = new Row()
        let now = 0
        /** Attempts of the present schedule. */
        let made = 0
        let lastEnd = -Infinity
        /** Replays asked for and not yet covered by an attempt that began afterwards. */
        let owed = 0
        let running: { readonly trigger: 'schedule' | 'replay'; readonly retries: boolean } | null = null
        for (const one of steps) {
          now += one.waitMs
          switch (one.kind) {
            case 'claim': {
              const wasRunning = running
              const isRetry = row.replay === null && row.leaseReplay === null
              if (!row.claim(now)) break
              if (wasRunning === null && isRetry) {
                // Never early, never beyond the sixth, never without a schedule.
                expect(made).toBeLessThan(6)
                if (made > 0) expect(now).toBeGreaterThanOrEqual(lastEnd + (DELAYS_MS[made] ?? Infinity))
              }
              if (wasRunning === null)
                running = { trigger: isRetry ? 'schedule' : 'replay', retries: row.leaseReplay === 'with_retries' }
              if (running?.trigger === 'replay' && wasRunning === null) owed = 0
              break
            }
            case 'crash':
              // The lease ends; the next claim repeats the attempt.
              break
            case 'succeed':
            case 'fail': {
              if (running === null) break
              const isSuccess = one.kind === 'succeed'
              const hadSchedule: boolean = row.next !== null
              row.settle(now, isSuccess ? 'delivered' : 'failed')
              if (running.trigger === 'schedule') {
                made++
                lastEnd = now
              } else if (!isSuccess && running.retries && !hadSchedule && !row.isClosed) {
                made = 1
                lastEnd = now
              }
              running = null
              if (isSuccess) expect(row.next).toBeNull()
              else if (made === 6) expect(row.next).toBeNull()
              expect(row.state).toBe(owed > 0 ? 'pending' : isSuccess ? 'delivered' : 'failed')
              break
            }
            case 'replay':
              if (row.askReplay(now, one.retries)) owed = 1
              break
            case 'close':
              row.close()
              owed = 0
          }
          // A replay that is owed is due now, or when the attempt in flight has ended.
          if (owed > 0) expect(row.isLeased || (row.due !== null && row.due <= now)).toBe(true)
          if (row.isClosed && !row.isLeased) expect(row.due).toBeNull()
          if (!row.isLeased && owed === 0) expect(row.due).toBe(row.next)
          expect(row.attempt).toBe(made)
        }
      }),
      { numRuns: cases(20_000, 100_000) },
    )
  },
  PROPERTY_TIMEOUT_MS,
)
