import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { compareVersions, parseVersion } from './version.ts'

/** The sort key of release lists (migration 0024) against the comparison that decides which of two is newer. */

const { app } = await testApp()

async function inOrder(versions: readonly string[]): Promise<string[]> {
  const { rows } = await app.db.query<{ v: string }>(
    `select v from unnest($1::text[]) v order by release_sort_key(v) collate "C", v`,
    [versions],
  )
  return rows.map(({ v }) => v)
}

test('sorts numbers by value, pre-releases before and builds after their version', async () => {
  const sorted = [
    '0.9',
    '1.0.0-alpha',
    '1.0.0-alpha.2',
    '1.0.0-alpha.10',
    '1.0.0-rc.1',
    '1.0.0-rc9',
    '1.0.0-rc10',
    '1.0.0',
    '1.0.0.1',
    '1.0.0+7',
    '1.0.0+41',
    '1.9.0',
    '1.10.0',
    '1.11.0.dev3',
    '1.11.0a1',
    '1.11.0rc9',
    '1.11.0rc10',
    '1.11.0',
    '1.11.0.post9',
    '1.11.0.post10',
    '1.11.1',
    'v2',
    '2024-11-03',
    '2024-11-30',
    '20241103123456789012345678901234567890',
    'com.acme.shop@1.9.0',
    'com.acme.shop@v1.10.0',
    '🚀',
  ]
  expect(await inOrder(sorted.toReversed())).toEqual(sorted)
})

test('sorts like the order of versions', async () => {
  const number = fc.integer({ min: 0, max: 120 })
  const word = fc.oneof(number.map(String), fc.constantFrom('alpha', 'beta', 'rc', 'rc9', 'rc10', 'beta2'))
  const semantic = fc
    .tuple(fc.array(number, { minLength: 3, maxLength: 3 }), fc.array(word, { maxLength: 3 }), fc.option(number))
    .map(
      ([core, pre, build]) =>
        core.join('.') + (pre.length > 0 ? `-${pre.join('.')}` : '') + (build === null ? '' : `+${build}`),
    )
  const python = fc
    .tuple(fc.array(number, { minLength: 3, maxLength: 3 }), fc.constantFrom('a', 'b', 'rc', '.dev', '.post'), number)
    .map(([core, word, count]) => `${core.join('.')}${word}${count}`)
  const version = fc.oneof({ weight: 3, arbitrary: semantic }, { weight: 1, arbitrary: python })
  await fc.assert(
    fc.asyncProperty(fc.array(version, { minLength: 2, maxLength: 60 }), async (versions) => {
      const sorted = (await inOrder(versions)).flatMap((text) => parseVersion(text) ?? [])
      for (const [index, one] of sorted.entries())
        for (const later of sorted.slice(index + 1)) expect(compareVersions(one, later) ?? 0).toBeLessThanOrEqual(0)
    }),
    { numRuns: 40 },
  )
})

test('accepts any name', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { minLength: 1 }), async (names) => {
      const clean = names.map((name) => name.replaceAll('\0', '').toWellFormed())
      expect(await inOrder(clean)).toHaveLength(clean.length)
    }),
    { numRuns: 20 },
  )
})
