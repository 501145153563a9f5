import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KNOWN_ERRORS, recognise } from './known-errors.ts'

test('every meaning is a clause that a place can follow, and every next step a sentence', () => {
  expect(KNOWN_ERRORS.length).toBeGreaterThan(150)
  for (const { means, next, type, text } of KNOWN_ERRORS) {
    expect(means).toMatch(/^(?:[a-z“$]|JSON|ES|None).*[^.]$/)
    expect(next).toMatch(/^[A-Z].*\.$/)
    expect(type ?? text).not.toBeNull()
  }
})

test('an error of another platform is not taken for one', () => {
  expect(recognise('KeyError', "'x'", 'javascript')).toBeNull()
  expect(recognise('NullPointerException', null, 'python')).toBeNull()
  expect(recognise('PaymentError', 'card declined', 'javascript')).toBeNull()
  expect(recognise(null, null, 'javascript')).toBeNull()
})

test('no text makes a pattern slow', () => {
  const part = fc.constantFrom(
    'a.',
    '"',
    "'",
    ' cannot be cast to ',
    'null ',
    '[',
    '0x0',
    '-1',
    'type ',
    '(',
    '$',
    '  ',
    'Fatal error: ',
  )
  const text = fc.array(part, { minLength: 400, maxLength: 1_000 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.constantFrom('javascript', 'java', 'cocoa', 'python', 'other'), (given, platform) => {
      const startedMs = performance.now()
      recognise(given, given, platform)
      expect(performance.now() - startedMs).toBeLessThan(250)
    }),
    { numRuns: 30 },
  )
})
