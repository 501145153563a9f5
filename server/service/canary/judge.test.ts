import { expect, test } from 'vitest'
import { judge, NO_RUN, type NewestRun, type Sighting, type Verdict } from './judge.ts'

const HOUR_MS = 3_600_000
const OK: Verdict = { state: 'ok', failedStep: null, explanation: '', missedAfter: null }
const PENDING: Verdict = { ...OK, state: 'pending' }
const ARRIVED: NewestRun = {
  id: 'run',
  isAccepted: true,
  refusal: null,
  isDigested: true,
  isFired: true,
  isArrived: true,
}
const OUT: NewestRun = { ...ARRIVED, isArrived: false }

const judged = (of: Partial<Sighting>): Verdict =>
  judge({ before: OK, run: ARRIVED, unarrivedMs: 0, sameRunMs: 0, periodMs: HOUR_MS, ...of })

test('an event that does not arrive is late after a minute and means a broken path after two, with the step behind which it is missing', () => {
  const at = (unarrivedMs: number, run: NewestRun = OUT, before = OK) => judged({ before, run, unarrivedMs })
  expect(at(59_999)).toBe(OK)
  expect(at(60_000)).toMatchObject({ state: 'late', failedStep: 'delivery' })
  expect(at(119_999)).toMatchObject({ state: 'late' })
  expect(at(120_000)).toMatchObject({ state: 'broken', failedStep: 'delivery' })
  expect(at(120_000, { ...OUT, isFired: false })).toMatchObject({ failedStep: 'alert' })
  expect(at(120_000, { ...OUT, isFired: false, isDigested: false })).toMatchObject({ failedStep: 'digestion' })
  const refused = { ...OUT, isFired: false, isDigested: false, isAccepted: false, refusal: '503: The disk is full.' }
  expect(at(120_000, refused)).toMatchObject({
    failedStep: 'intake',
    explanation: expect.stringContaining('503: The disk is full.') as string,
  })
  expect(at(120_000, { ...refused, refusal: null }).explanation).toContain('no answer')
})

test('a fresh installation and a restarted process raise no alarm', () => {
  // No run yet; a run that an earlier process sent, and that this one has just found.
  expect(judged({ before: PENDING, run: null })).toBe(PENDING)
  expect(judged({ before: PENDING, run: OUT })).toBe(PENDING)
  expect(judged({ before: OK, run: OUT })).toBe(OK)
  expect(judged({ before: PENDING })).toEqual(OK)
})

test('what is broken stays so until the newest event arrives, also while another one is on its way', () => {
  const broken = judged({ run: { ...OUT, isDigested: false, isFired: false }, unarrivedMs: 120_000 })
  expect(judged({ before: broken, run: OUT, unarrivedMs: 90_000 })).toBe(broken)
  // Another step fails now.
  expect(judged({ before: broken, run: OUT, unarrivedMs: 120_000 })).toMatchObject({ failedStep: 'delivery' })
  expect(judged({ before: broken })).toEqual(OK)
})

test('without another event the path is late after one and a half periods and broken after two, until one arrives', () => {
  expect(judged({ sameRunMs: 1.5 * HOUR_MS - 1 })).toEqual(OK)
  const late = judged({ sameRunMs: 1.5 * HOUR_MS })
  expect(late).toMatchObject({ state: 'late', failedStep: 'intake', missedAfter: 'run' })
  const broken = judged({ before: late, sameRunMs: 2 * HOUR_MS })
  expect(broken).toMatchObject({ state: 'broken', failedStep: 'intake', missedAfter: 'run' })
  // A process that has just started sees the same run, which arrived long ago.
  expect(judged({ before: broken })).toBe(broken)
  expect(judged({ before: late })).toBe(late)
  const next = { ...ARRIVED, id: 'next' }
  expect(judged({ before: broken, run: { ...next, isArrived: false } })).toBe(broken)
  expect(judged({ before: broken, run: next })).toEqual(OK)
  expect(judged({ before: PENDING, run: null, sameRunMs: 2 * HOUR_MS })).toMatchObject({
    state: 'broken',
    missedAfter: NO_RUN,
  })
})
