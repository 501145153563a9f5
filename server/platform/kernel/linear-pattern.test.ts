import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { compileLinearPattern, patternProblem, PatternTooLargeError } from './linear-pattern.ts'
import { MAX_PATTERN_CHARACTERS } from '#shared/limits.ts'

const unlimited = () => {}

test('replaces every match and nothing else', () => {
  const orders = compileLinearPattern('ORD-\\d{4}')
  expect(orders.replace('ORD-1234, ORD-5678 and ORD-9', (match) => `<${match.length}>`, unlimited)).toBe(
    '<8>, <8> and ORD-9',
  )
  const text = 'nothing here'
  expect(orders.replace(text, () => 'x', unlimited)).toBe(text)
})

test('empty matches are ignored', () => {
  expect(compileLinearPattern('a*b|c').replace('xcxaab', () => '-', unlimited)).toBe('x-x-')
  expect(compileLinearPattern('\\bfoo').replace('foo foo', () => '-', unlimited)).toBe('- -')
})

test.each(['(a', 'a{2000}', '(?=a)', '(a)\\1', '[', '*', 'a*', '', 'x'.repeat(MAX_PATTERN_CHARACTERS + 1)])(
  '%s is refused with a reason',
  (expression) => {
    expect(patternProblem(expression)).toMatch(/\w/)
  },
)

test('expressions that take exponential time in other engines are fast', () => {
  const started = cpuMs()
  for (const expression of ['(a+)+$', '(a|aa)+b', '(.*)*x', '(a?){30}a{30}b'])
    if (patternProblem(expression) === null)
      compileLinearPattern(expression).replace('a'.repeat(50_000), () => '', unlimited)
  expect(cpuMs() - started).toBeLessThan(2_000)
})

test('an expression whose automaton is too large is refused, with what to change', () => {
  expect(() => compileLinearPattern('(?i)(\\pL{1,500}){1,2}!')).toThrow(PatternTooLargeError)
  expect(patternProblem('(?i)(\\pL{1,500}){1,2}!')).toMatch(
    /^it has 2006 states, at most 1000 are allowed\. Replace \{1,500\}/,
  )
  expect(patternProblem('.{0,100}secret.{0,100}')).toBeNull()
})

describe('a search ends where its check throws', () => {
  class Stop extends Error {}
  /** Searches until the check was called that often. @returns how far the search came: the number of calls */
  const callsUntil = (expression: string, text: string, most: number): number => {
    let calls = 0
    const search = () =>
      compileLinearPattern(expression).replace(
        text,
        () => '',
        () => {
          if (++calls === most) throw new Stop()
        },
      )
    expect(search).toThrow(Stop)
    return calls
  }

  test.each([
    ['inside one match, in every engine', '\\pL{900}[0-9]', 'a'.repeat(100_000)],
    ['in a short text, which another engine searches', '(\\pL{1,20}){1,20}[0-9]', 'a'.repeat(500)],
    ['between matches that each read the rest of the text', 'x[^y]*y|x', 'x'.repeat(20_000)],
  ])('%s', (_, expression, text) => {
    expect(callsUntil(expression, text, 1)).toBe(1)
    expect(callsUntil(expression, text, 5)).toBe(5)
    // The next search of the same expression is a new one.
    expect(
      compileLinearPattern('b+').replace(
        'abba',
        () => '-',
        () => {},
      ),
    ).toBe('a-a')
  })
})
