import { expect, test } from 'vitest'
import { isEnvironmentName, isReleaseName } from './release-name.ts'

test.each([
  '1',
  'com.acme.shop@1.2.3+45',
  'x'.repeat(200),
  '🙂'.repeat(200),
  'latest-2',
  '…',
  '@acme/web@1.2.3',
  'a\\b',
])('%j is a name', (name) => {
  expect(isReleaseName(name)).toBe(true)
})

test.each(['', 'x'.repeat(201), '🙂'.repeat(201), 'a\tb', 'a\nb', 'a\u2028b', '.', '..', 'Latest', '\ud800'])(
  '%j is refused',
  (name) => {
    expect(isReleaseName(name)).toBe(false)
  },
)

test.each(['eu/staging', 'production', 'prod eu-1', '.', '..', 'latest', 'none', 'x'.repeat(64), '生产'])(
  '%j is an environment',
  (name) => {
    expect(isEnvironmentName(name)).toBe(true)
  },
)

test.each(['', 'x'.repeat(65), 'None', 'a\nb', 'a\tb', 'a\u0007b', 'a\u2028b', '\ud800'])(
  '%j is refused as an environment',
  (name) => {
    expect(isEnvironmentName(name)).toBe(false)
  },
)
