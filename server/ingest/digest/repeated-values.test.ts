import { afterEach, expect, test } from 'vitest'
import { forgetRepeated, repeatedValues } from './project-facts.ts'

afterEach(forgetRepeated)

const HASH = Buffer.alloc(32, 7)
const parts = (value: string) => [{ variant: 'exception_stack', values: [{ label: 'type', value }] }]

test('what an event repeats is the same object as in the event before', () => {
  const first = repeatedValues(HASH, parts('TypeError'), ['a', null, 'b'], [['release', '1.0']])
  const second = repeatedValues(HASH, parts('TypeError'), ['a', null, 'b'], [['release', '1.0']])
  expect(second.parts).toBe(first.parts)
  expect(second.texts).toBe(first.texts)
  expect(second.facts).toBe(first.facts)
})

test('what differs stays as the event says it', () => {
  const first = repeatedValues(
    HASH,
    parts('TypeError'),
    ['a', null, 'b'],
    [
      ['environment', 'production'],
      ['release', '1.0'],
    ],
  )
  const second = repeatedValues(
    HASH,
    parts('RangeError'),
    ['a', 'new', null, 'more'],
    [
      ['environment', 'production'],
      ['release', '1.1'],
      ['dist', '4'],
    ],
  )
  expect(second).toEqual({
    parts: parts('RangeError'),
    texts: ['a', 'new', null, 'more'],
    facts: [
      ['environment', 'production'],
      ['release', '1.1'],
      ['dist', '4'],
    ],
  })
  expect(second.facts[0]).toBe(first.facts[0])
  // The event before keeps what it said.
  expect(first.facts[1]).toEqual(['release', '1.0'])
})

test('a shorter event does not get what only the one before said', () => {
  repeatedValues(
    HASH,
    parts('TypeError'),
    ['a', 'b'],
    [
      ['release', '1.0'],
      ['dist', '4'],
    ],
  )
  expect(repeatedValues(HASH, [], ['a'], [['release', '1.0']])).toEqual({
    parts: [],
    texts: ['a'],
    facts: [['release', '1.0']],
  })
})

test('nothing is repeated from another fingerprint, or after everything was forgotten', () => {
  const first = repeatedValues(HASH, parts('TypeError'), ['a'], [['release', '1.0']])
  expect(repeatedValues(Buffer.alloc(32, 8), parts('TypeError'), ['a'], [['release', '1.0']]).facts).not.toBe(
    first.facts,
  )
  forgetRepeated()
  expect(repeatedValues(HASH, parts('TypeError'), ['a'], [['release', '1.0']]).facts).not.toBe(first.facts)
})
