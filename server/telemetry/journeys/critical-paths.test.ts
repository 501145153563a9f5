import { expect, test } from 'vitest'
import { MAX_CRITICAL_PATHS } from '#shared/limits.ts'
import { criticalPathFields } from './critical-paths.api.ts'
import { criticalPathSettings } from './critical-path-settings.ts'

const { critical_paths: schema } = criticalPathFields

test('patterns are trimmed', () => {
  expect(schema.parse([' checkout* ', '/login'])).toEqual(['checkout*', '/login'])
  expect(schema.parse([])).toEqual([])
})

test.each([
  ['no list', 'checkout'],
  ['no text', [7]],
  ['an empty pattern', ['  ']],
  ['a long pattern', ['x'.repeat(201)]],
  ['a control character', ['a\nb']],
  ['a repeated pattern', ['Checkout', 'checkout ']],
  ['too many', Array.from({ length: MAX_CRITICAL_PATHS + 1 }, (_, n) => `path ${n}`)],
])('refuses %s by the name of the setting', (_what, value) => {
  const { error } = schema.safeParse(value)
  expect(error?.issues[0]?.message).toMatch(/^critical_paths/)
})

test('an invalid stored value counts as none', () => {
  expect(criticalPathSettings({ critical_paths: ['a', 'a'] })).toEqual({ critical_paths: [] })
  expect(criticalPathSettings({ critical_paths: ['a'] })).toEqual({ critical_paths: ['a'] })
})
