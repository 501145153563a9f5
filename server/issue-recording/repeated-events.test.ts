import { expect, test } from 'vitest'
import { type Repeated, RepeatedEvents } from './repeated-events.ts'

const saying = (characters: number, stack = characters): Repeated => ({
  facts: [['key', 'x'.repeat(characters)]],
  texts: ['title'],
  stack: ['y'.repeat(stack)],
})

test('large events are forgotten before they take more than the limit, and count once while they are repeated', () => {
  const events = new RepeatedEvents({ maxIssues: 100, maxBytes: 10_000 })
  for (let round = 0; round < 50; round++) for (let issue = 0; issue < 4; issue++) events.set(issue, saying(1_000))
  expect([0, 1, 2, 3].filter((issue) => events.get(issue) !== undefined)).toEqual([0, 1, 2, 3])
  events.set(4, saying(100, 5_000))
  expect([0, 1, 2, 3, 4].filter((issue) => events.get(issue) !== undefined)).toEqual([4])
  events.set(5, saying(1_000))
  expect(events.get(4)).toEqual(saying(100, 5_000))
})

test('many small events are bounded by their number', () => {
  const events = new RepeatedEvents({ maxIssues: 3, maxBytes: 1_000_000 })
  for (let issue = 0; issue < 4; issue++) events.set(issue, saying(1))
  expect([0, 1, 2, 3].filter((issue) => events.get(issue) !== undefined)).toEqual([3])
})
