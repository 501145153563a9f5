import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareReleases } from './order.ts'
import { compareVersions, isSameApp, parseVersion } from './version.ts'

const compare = (a: string, b: string): number | null => {
  const one = parseVersion(a)
  const other = parseVersion(b)
  return one === null || other === null ? null : compareVersions(one, other)
}

describe('versions', () => {
  test.each([
    ['1.0', '1.0.1'],
    ['v2', '2.1'],
    ['1.9.0', '1.10.0'],
    ['1.0.0-alpha', '1.0.0-alpha.1'],
    ['1.0.0-alpha.1', '1.0.0-alpha.beta'],
    ['1.0.0-alpha.beta', '1.0.0-beta'],
    ['1.0.0-beta.2', '1.0.0-beta.11'],
    ['1.0.0-rc.1', '1.0.0'],
    ['2024.11.3-beta.2+77', '2024.11.3-beta.2+78'],
    ['2024.11.3-beta.2+77', '2024.11.3'],
    ['2024-11-03', '2024-11-20'],
    ['2024-11-03', '2024-11-03.1'],
    ['2024-11-03-beta.2', '2024-11-03'],
    ['2024-11-03', '2024-11-04-beta'],
    ['com.acme.shop@2024-11-03', 'com.acme.shop@v2024-11-04'],
    ['com.acme.shop@3.1.0+77', 'com.acme.shop@3.1.0+101'],
    ['com.acme.shop@3.1.0+101', 'com.acme.shop@3.2.0+1'],
    ['4711', '4712'],
    ['20241103153000', '20241104090000'],
    ['1732100000000', '1732100000001'],
    ['1.0.0.1', '1.0.0.2'],
    ['2.0.0-rc9', '2.0.0-rc10'],
    ['2.0.0-rc.9', '2.0.0-rc10'],
    ['2.0.0-beta10', '2.0.0-rc1'],
    ['2.0.0', '2.0.0.post1'],
    ['2.0.0+77', '2.0.0.post1'],
    ['2.0.0.post9', '2.0.0.post10'],
    ['2.0.0.post4', '2.0.1'],
    ['2.0.0-rc9', '2.0.0.post1'],
    ['2.0.0rc9', '2.0.0rc10'],
    ['2.0.0rc1', '2.0.0'],
    ['2.0.0b2', '2.0.0rc1'],
    ['2.0.0.dev4', '2.0.0a1'],
    ['2.0.0', '2.1.0.dev3+g9f2c1d0'],
    ['shop@1.2.0-beta9', 'shop@1.2.0-beta10'],
    // Left as they were: a hyphen is semantic versioning, and a word within a word is text.
    ['1.0.0-alpha', '1.0.0-dev.1'],
    ['1.0.0-x10y', '1.0.0-x9y'],
    ['web-1.9.0', 'web-1.10.0'],
    ['web-1.9', 'web-1.9.1'],
    ['web-1.9.0-rc.1', 'web-1.9.0'],
    ['build-44', 'build-102'],
    ['build44', 'build102'],
    ['r1234', 'r1235'],
    ['1.2.0_44', '1.2.0_102'],
    ['1.1.9_90', '1.2.0_44'],
    ['1.2.0_b9', '1.2.0_b10'],
    ['1.4.0 (122)', '1.4.0 (1000)'],
    ['1.4.0(122)', '1.5.0(7)'],
    ['1.4.0 (build 9)', '1.4.0 (build 10)'],
    ['Version 1.4.0 Build 9', 'Version 1.4.0 Build 10'],
    ['main-20261105-3f2a9c1', 'main-20261106-0a1b2c3'],
    ['main-20261105-103000', 'main-20261105-110000'],
    ['nightly-2026-11-05', 'nightly-2026-11-20'],
    ['2026-11-05-abc1234', '2026-11-06-3f2a9c1'],
    ['2026.11.5-abc1234', '2026.11.12-3f2a9c1'],
    ['2026_11_05', '2026_12_01'],
    ['20261105T103000Z', '20261105T110000Z'],
    ['2026-11-05T10:30:00Z', '2026-11-05T11:00:00Z'],
    ['release-1.3.0', 'release-v1.3.1'],
    ['refs/tags/v1.9.0', 'refs/tags/v1.10.0'],
    ['registry.example.com/shop/api:1.4.2', 'registry.example.com/shop/api:1.4.10'],
    ['shop-android-prod-4.12.0-build.881', 'shop-android-prod-4.12.0-build.1002'],
    ['shop-android-prod-4.12.0-build-99', 'shop-android-prod-4.12.0-build-881'],
    ['ios17-web-1.9.0', 'ios17-web-1.10.0'],
    ['1.9.0.RELEASE', '1.10.0.RELEASE'],
    ['1.9.0 production', '1.10.0 production'],
    ['1.9.0_3f2a9c1', '1.10.0_0a1b2c3'],
    ['v1.2.0', 'v1.2.0-9-gfa03bc1'],
    ['v1.2.0-9-gfa03bc1', 'v1.2.0-14-g2414721'],
    ['v1.2.0-14-g2414721-dirty', 'v1.2.1'],
    ['v1.2.3-rc.1+45', 'v1.2.3-rc.1+46'],
  ])('%s is older than %s', (a, b) => {
    expect(compare(a, b)).toBeLessThan(0)
    expect(compare(b, a)).toBeGreaterThan(0)
  })

  test.each([
    ['1.0', '1.0.0'],
    ['v1.2.3', '1.2.3'],
    ['1.2.3', '1.2.3+9'],
    ['1.2.3-rc1', '1.2.3-rc.1'],
    ['1.2.3-rc.1', '1.2.3rc1'],
    ['1.2.3.post1', '1.2.3-post1'],
  ])('%s and %s are the same version', (a, b) => {
    expect(compare(a, b)).toBe(0)
  })

  test.each([
    ['com.acme.shop@1.0.0', 'com.acme.admin@2.0.0'],
    ['1.0.0+abc', '1.0.0+def'],
    ['9f2c1d0', '1.0.0'],
    ['🚀', '1.0.0'],
    ['9'.repeat(300), '1.0.0'],
    ['', '1'],
    ['4711b3', '4712'],
    ['2.0.0.poster', '2.0.0'],
    ['1.'.repeat(60), '1'],
    // Different schemes.
    ['web-1.9.0', 'api-1.8.0'],
    ['web-1.9.0', '1.8.0'],
    ['web-1.9.0', 'build-44'],
    ['ios17-1.4.0', 'ios16-1.5.0'],
    ['1.9.0.RELEASE', '1.8.0'],
    ['1.9.0 production', '1.8.0 staging'],
    ['registry.example.com/shop/api:1.4.2', 'registry.example.com/shop/web:1.4.1'],
    // Hashes.
    ['1.9.0_3f2a9c1', '1.9.0_0a1b2c3'],
    ['main-20261105-3f2a9c1', 'main-20261105-0a1b2c3'],
    ['20261105-3f2a9c1', '20261105-1234567'],
    ['1.2.3-3f2a9c1', '1.2.3-0a1b2c3'],
    ['f123456', 'f654321'],
    ['web-3f2a9c1', 'web-4f2a9c1'],
    ['b7e23ec2-9111-4b6a-8d2e-1234567890ab', '0c9a2d41-9112-4b6a-8d2e-1234567890ab'],
    // A package's own name is not read as a decoration.
    ['feature/cart@3f2a9c1', 'feature/cart@4f2a9c1'],
    ['shop@web-1.9.0', 'shop@web-1.8.0'],
  ])('%s and %s cannot be compared', (a, b) => {
    expect(compare(a, b)).toBeNull()
  })

  test('the order is total and transitive', () => {
    const number = fc.integer({ min: 0, max: 12 })
    const version = fc
      .tuple(
        fc.array(number, { minLength: 1, maxLength: 4 }),
        fc.option(fc.constantFrom('alpha', 'rc.1', 'rc.2', 'rc9', 'rc10', '7')),
        fc.option(number),
      )
      .map(
        ([core, pre, build]) => `${core.join('.')}${pre === null ? '' : `-${pre}`}${build === null ? '' : `+${build}`}`,
      )
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compare(a, b) ?? Number.NaN)).toBe(-Math.sign(compare(b, a) ?? Number.NaN) || 0)
      }),
    )
    const before = fc.constantFrom('web-', 'Release ', 'registry.example.com/shop/api:', 'app/', 'ios17_')
    fc.assert(
      fc.property(before, version, version, (prefix, a, b) => {
        expect(compare(prefix + a, prefix + b)).toBe(compare(a, b))
      }),
    )
  })

  test('any name is read within a moment', () => {
    for (const part of ['1.', 'a1', '-1', '1-', '1_', 'v', ' (', '2026-', 'gz1', 'f1', '1.1-g', '<']) {
      const before = process.cpuUsage().user
      for (let times = 0; times < 20; times++) parseVersion(part.repeat(250).slice(0, 250))
      expect(process.cpuUsage().user - before, part).toBeLessThan(100_000)
    }
  })
})

test('what stands before the @ names the app', () => {
  expect(isSameApp('com.acme.shop@1.0', 'com.acme.shop@1.1+7')).toBe(true)
  expect(isSameApp('com.acme.shop@1.0', 'com.acme.watch@1.0')).toBe(false)
  expect(isSameApp('shop, two@1.0', 'two@1.0')).toBe(false)
  expect(isSameApp('@acme/shop@1.0', '@acme/shop@2.0')).toBe(true)
  expect(isSameApp('1.0', 'com.acme.watch@1.0')).toBe(true)
  expect(isSameApp('@1.0', 'deadbeef')).toBe(true)
})

describe('releases', () => {
  const timeOf = (text: string | null): Date | null => (text === null ? null : new Date(text))
  const release = (
    version: string,
    releasedAt: string | null = null,
    firstSeenAt: string | null = null,
    createdAt: string | null = null,
  ) => ({
    version,
    releasedAt: timeOf(releasedAt),
    createdAt: timeOf(createdAt),
    firstSeenAt: timeOf(firstSeenAt),
  })

  test('versions take precedence over dates', () => {
    expect(compareReleases(release('1.0', '2026-11-20'), release('2.0', '2026-11-01'))).toBeLessThan(0)
  })

  test('hashes are ordered by release date, then by first seen; unseen ones are newest', () => {
    expect(compareReleases(release('abc', '2026-11-01'), release('def', '2026-11-02'))).toBeLessThan(0)
    expect(
      compareReleases(release('abc', '2026-11-01', '2026-11-05'), release('def', null, '2026-11-04')),
    ).toBeGreaterThan(0)
    expect(compareReleases(release('abc', null, '2026-11-05'), release('def'))).toBeLessThan(0)
    expect(compareReleases(release('abc'), release('def'))).toBe(0)
  })

  test('one that was never seen counts from its release, else its creation', () => {
    const seen = release('abc', null, '2026-11-05', '2026-11-05')
    expect(compareReleases(seen, release('def', '2026-11-01'))).toBeGreaterThan(0)
    expect(compareReleases(seen, release('def', null, null, '2026-11-04'))).toBeGreaterThan(0)
    expect(compareReleases(seen, release('def', null, null, '2026-11-06'))).toBeLessThan(0)
    expect(compareReleases(seen, release('def', '2026-11-30', null, '2026-11-04'))).toBeLessThan(0)
    // Seen late, but it existed before.
    expect(
      compareReleases(release('abc', null, '2026-11-05', '2026-11-01'), release('def', null, null, '2026-11-03')),
    ).toBeLessThan(0)
  })
})
