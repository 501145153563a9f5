import { beforeEach, expect, test } from 'vitest'
import { beginWatch, endWatch, forgetReads, noteRead, restartReads } from './unwatched.ts'

beforeEach(() => {
  endWatch()
  forgetReads()
})

test('the first read without a stream counts, reads beside a stream do not', () => {
  expect(beginWatch()).toBeNull()
  endWatch()
  noteRead(30)
  noteRead(20)
  noteRead(40)
  expect(beginWatch()).toBe(20)
  noteRead(50)
  endWatch()
  const closedMs = beginWatch()
  expect(closedMs).toBeGreaterThan(50)
})

test('reading everything again starts over, and so does the end of a session', () => {
  noteRead(10)
  restartReads()
  noteRead(performance.now())
  expect(beginWatch()).toBeGreaterThan(10)
  noteRead(60)
  // The session ends while the stream is open, and closes it.
  forgetReads()
  endWatch()
  expect(beginWatch()).toBeNull()
  endWatch()
  noteRead(70)
  expect(beginWatch()).toBe(70)
})
