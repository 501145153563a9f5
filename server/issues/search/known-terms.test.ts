import { expect, test } from 'vitest'
import { tagKey } from './facts.ts'
import { issueIdNumber, KnownTerms } from './write-index-terms.ts'
import { keyTerm, termsToAdd, isRecurring, buildIndexTerms } from './index-terms.ts'

test('an entry is known by issue, key and value until the cache is cleared', () => {
  const known = new KnownTerms(1 << 20)
  expect([known.isNew(1, 'os', 'linux'), known.isNew(1, 'os', 'linux')]).toEqual([true, false])
  expect(known.isNew(2, 'os', 'linux')).toBe(true)
  expect(known.isNew(1, 'o', 'slinux')).toBe(true)
  expect(known.isNew(1, '', 'Order 17 failed', 'text')).toBe(true)
  expect(known.isNew(1, '', 'Order 4711 failed', 'text')).toBe(false)
  expect(known.isNew(1, '', 'Order 4711 paid', 'text')).toBe(true)
  known.clear()
  expect(known.isNew(1, 'os', 'linux')).toBe(true)
})

test('of 100,000 entries almost none collide or are replaced', () => {
  const known = new KnownTerms(1 << 20)
  let collided = 0
  let replaced = 0
  const entries = Array.from({ length: 100_000 }, (_, i) => [i % 997, `key${i % 41}`, `value ${i}`] as const)
  for (const [issue, key, value] of entries) if (!known.isNew(issue, key, value)) collided++
  for (const [issue, key, value] of entries) if (known.isNew(issue, key, value)) replaced++
  expect(collided).toBe(0)
  expect(replaced).toBeLessThan(2_500)
})

test('of a bounded key about 180 values are new, however often they return', () => {
  const known = new KnownTerms(1 << 6)
  const isNew = (value: string, key = 'order') => known.isNew(1, key, value, 'bounded')
  // The small table replaces entries all the time: ten values never exhaust the key.
  for (let i = 0; i < 5_000; i++) isNew(`few ${i % 10}`, 'few')
  expect(isNew('one more', 'few')).toBe(true)
  const written = Array.from({ length: 1_000 }, (_, i) => isNew(`o${i}`)).filter(Boolean).length
  expect(written).toBeGreaterThanOrEqual(128)
  expect(written).toBeLessThan(250)
  expect([isNew('late'), isNew('late', 'other')]).toEqual([false, true])
  known.clearCounts()
  expect(isNew('late')).toBe(true)
})

test('an issue’s number is the random end of its id', () => {
  expect(issueIdNumber('01a1f887-6d92-74e1-9804-87eb42933998')).toBe(0x42933998)
})

test('a document grows up to its limits, and an overflow term records values beyond', () => {
  const values = Array.from({ length: 60 }, (_, i) => ['colour', `c${i}`] as const)
  const document = termsToAdd([], buildIndexTerms(['Payment failed'], values))
  expect(document).toContain(keyTerm('colour'))
  expect(document.filter((term) => term.startsWith('\u001Dcolour\u001F'))).toHaveLength(50)
  expect(document).toContain('\u001Fmore\u001Fcolour')
  expect(termsToAdd(document, buildIndexTerms(['payment FAILED'], values))).toEqual([])
  expect(termsToAdd(document, buildIndexTerms(['refused'], []))).toEqual(['refused'])
  const keys = Array.from({ length: 400 }, (_, i) => [`k${i}`, 'v'] as const)
  expect(termsToAdd([], buildIndexTerms([], keys)).filter((term) => term.endsWith('\u001Fv'))).toHaveLength(150)
  const words = termsToAdd(
    [],
    buildIndexTerms(
      Array.from({ length: 50 }, (_, i) => `long${'abc'.repeat(15)}${i} `.repeat(80)),
      [],
    ),
  )
  expect(words.join(' ').length).toBeLessThanOrEqual(6_000)
})

test.each([
  ['checkout', true],
  ['v2', true],
  ['sha256', false],
  ['4711', false],
  ['deadbeef42', false],
  ['\u001Dos.version\u001F10.4.2', true],
])('%s is indexed for a later event: %s', (term, isKept) => {
  expect(isRecurring(term)).toBe(isKept)
})

test('tags with a reserved name have a prefix', () => {
  expect([tagKey('Tenant'), tagKey('level'), tagKey('Release')]).toEqual(['tenant', 'tag.level', 'tag.release'])
})
