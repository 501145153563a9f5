import { expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { compileLinearPattern, patternProblem } from './linear-pattern.ts'
import { MAX_PATTERN_CHARACTERS } from '#shared/limits.ts'

test('replaces every match and nothing else', () => {
  const orders = compileLinearPattern('ORD-\\d{4}')
  expect(orders.replace('ORD-1234, ORD-5678 and ORD-9', (match) => `<${match.length}>`)).toBe('<8>, <8> and ORD-9')
  const text = 'nothing here'
  expect(orders.replace(text, () => 'x')).toBe(text)
})

test('empty matches are ignored', () => {
  expect(compileLinearPattern('a*b|c').replace('xcxaab', () => '-')).toBe('x-x-')
  expect(compileLinearPattern('\\bfoo').replace('foo foo', () => '-')).toBe('- -')
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
    if (patternProblem(expression) === null) compileLinearPattern(expression).replace('a'.repeat(50_000), () => '')
  expect(cpuMs() - started).toBeLessThan(2_000)
})
