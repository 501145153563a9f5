import { describe, expect, test } from 'vitest'
import { toChord, isLetterBinding, makeMatcher, type Stroke } from './keys.ts'

const stroke = (key: string, held: Partial<Stroke> = {}): Stroke => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...held,
})

describe('the chord of a stroke', () => {
  test.each([
    ['r', stroke('r')],
    ['r', stroke('R')],
    ['shift+j', stroke('J', { shiftKey: true })],
    ['mod+k', stroke('k', { ctrlKey: true })],
    ['mod+k', stroke('k', { metaKey: true })],
    ['?', stroke('?', { shiftKey: true })],
    ['.', stroke('.')],
    ['1', stroke('1')],
    ['escape', stroke('Escape')],
    ['shift+enter', stroke('Enter', { shiftKey: true })],
  ])('%s', (chord, given) => expect(toChord(given)).toBe(chord))

  test('is null for lone modifiers, dead keys and AltGr characters', () => {
    expect(toChord(stroke('Shift', { shiftKey: true }))).toBeNull()
    expect(toChord(stroke('Dead'))).toBeNull()
    expect(toChord(stroke('@', { altKey: true, ctrlKey: true }))).toBeNull()
  })
})

describe('matching', () => {
  const bindings = [{ keys: 'i' }, { keys: 'g i' }, { keys: 'r' }] as const

  test('a single key', () => {
    expect(makeMatcher()('r', 0, bindings)).toBe(bindings[2])
    expect(makeMatcher()('x', 0, bindings)).toBeUndefined()
  })

  test('a sequence of keys within the time limit', () => {
    const match = makeMatcher()
    expect(match('g', 0, bindings)).toBeUndefined()
    expect(match('i', 1000, bindings)).toBe(bindings[1])
    // The sequence is complete: the next letter is a binding again.
    expect(match('i', 1100, bindings)).toBe(bindings[0])
  })

  test('after the time limit, the second key is a binding of its own', () => {
    const match = makeMatcher()
    match('g', 0, bindings)
    expect(match('i', 1300, bindings)).toBe(bindings[0])
  })

  test('another key ends the sequence', () => {
    const match = makeMatcher()
    match('g', 0, bindings)
    expect(match('r', 100, bindings)).toBe(bindings[2])
    expect(match('i', 200, bindings)).toBe(bindings[0])
  })

  test('the newest registration of a key wins', () => {
    const older = { keys: 'y', page: 'shell' }
    const newer = { keys: 'y', page: 'issue' }
    expect(makeMatcher<{ keys: string; page: string }>()('y', 0, [older, newer])).toBe(newer)
  })
})

test('only bindings of characters can be switched off', () => {
  expect(['r', '?', 'g i', 'shift+j', '1'].every(isLetterBinding)).toBe(true)
  expect(['mod+k', 'escape', 'enter', 'mod+s'].some(isLetterBinding)).toBe(false)
})
