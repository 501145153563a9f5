import { expect, test } from 'vitest'
import { isReleaseName } from './release-name.ts'

test.each(['1', 'com.acme.shop@1.2.3+45', 'x'.repeat(200), '🙂'.repeat(200), 'latest-2', '…'])(
  '%j is a name',
  (name) => {
    expect(isReleaseName(name)).toBe(true)
  },
)

test.each([
  '',
  'x'.repeat(201),
  '🙂'.repeat(201),
  'a/b',
  'a\\b',
  'a\tb',
  'a\nb',
  'a\u2028b',
  '.',
  '..',
  'Latest',
  '\ud800',
])('%j is refused', (name) => {
  expect(isReleaseName(name)).toBe(false)
})
