import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import type { ReleaseFacts } from '../../projects/releases/order.ts'
import { hasFix, nextAfter, type Fix, type ReleasesByVersion } from './resolution.ts'

const RESOLVED = new Date('2026-11-10T00:00:00Z')

/** Releases by the day of November on which they were first seen. */
const seen = (days: Record<string, number | null>, released: Record<string, number> = {}): ReleasesByVersion =>
  new Map(
    Object.entries(days).map(([version, day]): [string, ReleaseFacts] => [
      version,
      {
        version,
        releasedAt: released[version] === undefined ? null : new Date(Date.UTC(2026, 10, released[version])),
        firstSeenAt: day === null ? null : new Date(Date.UTC(2026, 10, day)),
      },
    ]),
  )
const inReleases = (...versions: string[]): Fix => ({ kind: 'release', versions })
const isFixed = (fix: Fix, release: string | null, releases: ReleasesByVersion = new Map()) =>
  hasFix(fix, RESOLVED, release, releases)

describe('resolved in a release', () => {
  test.each([
    ['2.3.1', '2.3.0', false],
    ['2.3.1', '2.3.1', true],
    ['2.3.1', '2.3.1-rc.1', false],
    ['2.3.1-rc.1', '2.3.1-rc.2', true],
    ['2.3.1', '2.3.2', true],
    ['2.3.1', '2.10.0', true],
    ['2.3', '2.3.0', true],
    ['v2', '2.0.0-beta', false],
    ['2.3.1', '2.3.1+400', true],
    ['2024.11.3-beta.2+77', '2024.11.3-beta.2+76', false],
    ['2024.11.3-beta.2+77', '2024.11.3', true],
    ['2024-11-03', '2024-11-02', false],
    ['4711', '4712', true],
    ['412', '41', false],
    ['9.9', '10.0', true],
    ['1.0.0-rc.10', '1.0.0-rc.9', false],
    ['2024.11.3', '2024.9.30', false],
    ['2024.1.6', '2024.01.05', false],
    ['1.2.3.4', '1.2.3', false],
    ['2.3.1-SNAPSHOT', '2.3.1', true],
    ['com.acme@1.2.3+45', 'com.acme@1.2.3', true],
    ['20241104090000', '20241103153000', false],
    ['20241103153000', '20241104090000', true],
    ['com.acme@1.2.3+45', 'com.acme@1.2.3+44', false],
    ['com.acme@1.2.3+45', 'com.acme@1.2.3+45', true],
    ['com.acme@1.2.3+45', 'com.acme@1.3.0+1', true],
    // Written without the package by a member, with it by the SDK.
    ['1.2.3', 'com.acme@1.2.2+99', false],
    ['1.2.3', 'com.acme@1.2.3+1', true],
    ['com.acme@1.2.3', '1.2.4', true],
  ])('%s: an event of %s has the fix: %s', (fix, release, expected) => {
    expect(isFixed(inReleases(fix), release)).toBe(expected)
  })

  test('an equal version has the fix, whenever it was seen, because the fix is often only planned', () => {
    const releases = seen({ '2.3': null, '2.3.1': null, '2.3.0': 1, 'com.acme@2.3.1+77': 1, 'v2.3.1': 3 })
    expect(isFixed(inReleases('2.3'), '2.3.0', releases)).toBe(true)
    expect(isFixed(inReleases('2.3.1'), 'com.acme@2.3.1+77', releases)).toBe(true)
    expect(isFixed(inReleases('2.3.1'), 'v2.3.1', releases)).toBe(true)
    expect(isFixed(inReleases('2.3.1'), '2.3.0', releases)).toBe(false)
  })

  test('builds without an order and unknown names do not have it', () => {
    expect(isFixed(inReleases('1.0.0+abc'), '1.0.0+def')).toBe(false)
    expect(isFixed(inReleases('9f2c1d07'), 'ab34ff01')).toBe(false)
    expect(isFixed(inReleases('9f2c1d07'), 'ab34ff01', seen({ '9f2c1d07': 3, ab34ff01: 3 }))).toBe(false)
    expect(isFixed(inReleases('1.0.0+abc'), '1.0.0+def', seen({ '1.0.0+abc': 3, '1.0.0+def': 4 }))).toBe(true)
    // A single release date is not compared.
    const dated = seen({ aaa: 3, bbb: 4 }, { bbb: 1 })
    expect(isFixed(inReleases('aaa'), 'bbb', dated)).toBe(true)
  })

  test('of two packages in one project, each has its own fix', () => {
    const releases = seen({ 'com.a@2.0.0': 5, 'com.b@3.0.0': 5, 'com.b@2.9.0': 6, 'com.a@1.9.9': 6, 'com.c@1.0': 6 })
    const fix = inReleases('com.a@2.0.0', 'com.b@3.0.0')
    expect(isFixed(fix, 'com.b@2.9.0', releases), 'newer than the fix of the other package').toBe(false)
    expect(isFixed(fix, 'com.a@1.9.9', releases)).toBe(false)
    expect(isFixed(fix, 'com.a@2.0.1', releases)).toBe(true)
    expect(isFixed(fix, 'com.b@3.0.0', releases)).toBe(true)
    expect(isFixed(fix, 'com.c@1.0', releases), 'a third package, by time').toBe(true)
  })

  test('a hash has the fix of two branches if it is newer than both', () => {
    const releases = seen({ aaa: 2, ccc: 5, bbb: 3, ddd: 6 })
    expect(isFixed(inReleases('aaa', 'ccc'), 'bbb', releases)).toBe(false)
    expect(isFixed(inReleases('aaa', 'ccc'), 'ddd', releases)).toBe(true)
  })

  test('an event without a release never has it', () => {
    expect(isFixed(inReleases('1.0.0'), null)).toBe(false)
  })

  test('names without an order are compared by release date, then by first event', () => {
    const releases = seen({ aaa: 1, bbb: 2, ccc: 3, '🚀 launch': 4, other: 5 }, { aaa: 9, bbb: 8 })
    expect(isFixed(inReleases('aaa'), 'bbb', releases)).toBe(false)
    expect(isFixed(inReleases('bbb'), 'aaa', releases)).toBe(true)
    expect(isFixed(inReleases('ccc'), '🚀 launch', releases)).toBe(true)
    expect(isFixed(inReleases('other'), '🚀 launch', releases)).toBe(false)
  })

  test('a release seen before a planned one is older', () => {
    expect(isFixed(inReleases('ccc'), 'bbb', seen({ bbb: 2, ccc: null }))).toBe(false)
    expect(isFixed(inReleases('x'.repeat(200)), 'x'.repeat(200))).toBe(true)
  })
})

describe('resolved on several branches', () => {
  const fix = inReleases('2.3.1', '3.0.2')
  test.each([
    ['1.9.9', false],
    ['2.3.0', false],
    ['2.3.1', true],
    ['2.3.9', true],
    ['3.0.0', false],
    ['3.0.1', false],
    ['3.0.2', true],
    ['3.1.0', true],
    ['4.0.0', true],
  ])('2.3.1 and 3.0.2: an event of %s has the fix: %s', (release, expected) => {
    expect(isFixed(fix, release)).toBe(expected)
    expect(isFixed(inReleases('3.0.2', '2.3.1'), release)).toBe(expected)
  })

  test('a branch between them without a fix has it unless it was released before the lower fix', () => {
    const has = (days: Record<string, number | null>, released?: Record<string, number>) =>
      isFixed(fix, '2.4.0', seen(days, released))
    expect(has({ '2.3.1': 5, '2.4.0': 3 })).toBe(false)
    expect(has({ '2.3.1': 5, '2.4.0': 6 })).toBe(true)
    expect(has({ '2.3.1': 5, '2.4.0': 6 }, { '2.3.1': 9, '2.4.0': 2 })).toBe(false)
    // Versions decide first: without times, it is not older than 2.3.1.
    expect(isFixed(fix, '2.4.0'), 'nothing is known').toBe(true)
    expect(has({ '2.3.1': null, '2.4.0': 12 }), 'seen since the resolution, the fix is only planned').toBe(true)
    expect(has({ '2.3.1': null, '2.4.0': 9 }), 'seen before the resolution, the fix is only planned').toBe(false)
    expect(has({ '2.3.1': null, '2.4.0': 12 }, { '2.3.1': 4 }), 'seen after the fix was out').toBe(true)
    expect(has({ '2.3.1': null, '2.4.0': 3 }, { '2.3.1': 4 }), 'seen before the fix was out').toBe(false)
  })
})

describe('resolved in the next release', () => {
  const next: Fix = { kind: 'next', after: '2.3.0' }
  test('only a release that is newer than the newest one, and was unknown, has the fix', () => {
    const releases = seen({ '2.2.0': 1, '2.3.0': 2, '2.2.9': 12, '2.3.1': 12, '1.0.0-old': 12, '9.0.0': 3 })
    expect(isFixed(next, '2.3.0', releases)).toBe(false)
    expect(isFixed(next, '2.3.1', releases)).toBe(true)
    expect(isFixed(next, '2.2.9', releases), 'a branch without the fix').toBe(false)
    expect(isFixed(next, '9.0.0', releases), 'seen before').toBe(false)
    expect(isFixed(next, null, releases)).toBe(false)
  })
  test('another spelling of the same version is not the next release', () => {
    const releases = seen({ '2.3.0': 2, 'v2.3': 12, 'shop@2.3.0+4': 12, '2.3.0.1': 12 })
    expect(isFixed(next, 'v2.3', releases)).toBe(false)
    expect(isFixed(next, 'shop@2.3.0+4', releases)).toBe(false)
    expect(isFixed(next, '2.3.0.1', releases)).toBe(true)
  })
  test('with two packages, hashes and releases without events, each is compared with its own kind', () => {
    const releases = seen({
      'com.b@5.0.0': 8,
      'com.a@1.0.0': 7,
      'com.a@0.9.0': 1,
      abc: 6,
      made: null,
      'com.a@1.1.0': 12,
      'com.a@0.9.5': 12,
      def: 12,
    })
    const known = ['com.b@5.0.0', 'made', 'com.a@1.0.0', 'abc', 'com.a@0.9.0'].map((version) => releases.get(version))
    const fix = nextAfter(known.filter((one) => one !== undefined))
    expect(fix).toEqual({ kind: 'next', after: 'com.b@5.0.0', besides: ['made', 'com.a@1.0.0'] })
    expect(isFixed(fix, 'com.a@0.9.5', releases), 'an old app seen for the first time').toBe(false)
    expect(isFixed(fix, 'com.a@1.1.0', releases)).toBe(true)
    expect(isFixed(fix, 'def', releases)).toBe(true)
    expect(isFixed(fix, 'unknown', releases)).toBe(false)
    const later = new Map(releases).set('made', {
      version: 'made',
      releasedAt: null,
      firstSeenAt: new Date('2026-11-13'),
    })
    expect(isFixed(fix, 'made', later), 'known at the resolution, seen later').toBe(false)
  })
  test('the newest is the highest version, not the latest; a version without a package belongs to every package', () => {
    const of = (...versions: string[]) =>
      nextAfter(versions.map((version) => ({ version, releasedAt: null, firstSeenAt: new Date('2026-11-01') })))
    expect(of('2.2.9', '2.3.0', '2.3.0-rc.1')).toEqual({ kind: 'next', after: '2.3.0' })
    expect(of('2.3.0', 'com.a@2.4.0')).toEqual({ kind: 'next', after: 'com.a@2.4.0' })
    expect(of()).toEqual({ kind: 'next', after: null })
    expect(of('2.0.0', 'fff', 'eee')).toEqual({ kind: 'next', after: '2.0.0', besides: ['fff'] })
  })
  test('thousands of packages in one project take less than a second of processor time', () => {
    const releases = Array.from({ length: 5_000 }, (_, i): ReleaseFacts => {
      const version = i === 2_500 ? '1.5.0' : `com.app${i}@1.${i % 9}.${i}`
      return { version, releasedAt: null, firstSeenAt: RESOLVED }
    })
    const startMs = cpuMs()
    const fix = nextAfter(releases)
    expect(cpuMs() - startMs).toBeLessThan(1_000)
    // Lower versions may be the same app as the version without a package.
    expect(fix).toMatchObject({
      after: 'com.app5@1.5.5',
      besides: expect.not.arrayContaining(['com.app1@1.1.1', '1.5.0']) as string[],
    })
  })
  test('if no release was known, the first one has the fix', () => {
    expect(isFixed({ kind: 'next', after: null }, '1.0', seen({ '1.0': 12 }))).toBe(true)
    expect(isFixed({ kind: 'next', after: null }, '1.0', seen({ '1.0': 9 }))).toBe(false)
  })
})

test('resolved in a commit: no release has it before one is known to contain the commit', () => {
  expect(isFixed({ kind: 'commit', sha: 'abcdef1' }, '9.0.0')).toBe(false)
  expect(isFixed({ kind: 'commit', sha: 'abcdef1' }, null)).toBe(false)
})

test('resolved without a release: every event has the fix', () => {
  expect(isFixed({ kind: 'now' }, null)).toBe(true)
  expect(isFixed({ kind: 'now' }, '0.0.1')).toBe(true)
})
