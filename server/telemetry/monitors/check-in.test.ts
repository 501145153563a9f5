import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CheckIn } from '../../events/protocol/check-in.ts'
import { afterCheckIn, runDuration, runStart, type Run } from './check-in.ts'

const OF = { id: 'a'.repeat(32), monitorId: 'm', projectId: 'p' }
const at = (second: number): Date => new Date(Date.UTC(2026, 10, 20, 5, 0, second))

const aCheckIn = (fields: Partial<CheckIn> = {}): CheckIn => ({
  id: OF.id,
  slug: 'nightly',
  status: 'ok',
  durationMs: null,
  environment: 'production',
  release: null,
  traceId: null,
  config: null,
  notes: [],
  ...fields,
})

const runOf = (...heard: readonly (readonly [CheckIn, number])[]): Run => {
  let run: Run | null = null
  for (const [checkIn, second] of heard) run = afterCheckIn(run, OF, checkIn, at(second))
  if (run === null) throw new Error('nothing heard')
  return run
}

test('start, then end', () => {
  const run = runOf([aCheckIn({ status: 'in_progress' }), 1], [aCheckIn(), 4])
  expect(run).toMatchObject({ status: 'ok', startedAt: at(1), finishedAt: at(4), receivedAt: at(1), updatedAt: at(4) })
  expect([runStart(run), runDuration(run)]).toEqual([at(1), 3_000])
})

test('end, then start: the same run, which stays ended', () => {
  const run = runOf([aCheckIn({ durationMs: 2_000 }), 4], [aCheckIn({ status: 'in_progress' }), 5])
  expect(run).toMatchObject({ status: 'ok', finishedAt: at(4) })
  // The start was received after the end, so it is computed from the duration.
  expect([runStart(run), runDuration(run)]).toEqual([at(2), 2_000])
})

test('an end without start and duration has no duration', () => {
  expect(runDuration(runOf([aCheckIn(), 4]))).toBeNull()
  expect(runStart(runOf([aCheckIn(), 4]))).toBeNull()
})

test('a failed run never becomes ok, and an ended one never open', () => {
  const run = runOf([aCheckIn({ status: 'error' }), 1], [aCheckIn(), 2], [aCheckIn({ status: 'in_progress' }), 3])
  expect(run).toMatchObject({ status: 'error', finishedAt: at(1) })
})

test('order and repetition of check-ins do not change the run', () => {
  const heard = fc.tuple(
    fc.record({
      status: fc.constantFrom('in_progress', 'ok', 'error'),
      durationMs: fc.option(fc.nat(10_000)),
    }),
    fc.nat(59),
  )
  fc.assert(
    fc.property(fc.array(heard, { minLength: 1, maxLength: 5 }), fc.nat(), (list, seed) => {
      const checkIns = list.map(([fields, second]) => [aCheckIn(fields), second] as const)
      const shuffled = checkIns
        .map((one, index) => ({ one, key: (index * 7 + seed) % 11 }))
        .sort((a, b) => a.key - b.key)
      expect(runOf(...shuffled.map(({ one }) => one), ...checkIns)).toEqual(runOf(...checkIns))
    }),
  )
})
