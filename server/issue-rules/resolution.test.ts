import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import type { ReleaseFacts } from '../releases/order.ts'
import { hasFix, nextAfter, type Fix, type ReleasesByVersion } from './resolution.ts'

const RESOLVED = new Date('2026-11-10T00:00:00Z')

/** Releases and the days of November they were first seen on. */
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
const met = (fix: Fix, release: string | null, releases: ReleasesByVersion = new Map()) =>
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
    // Written as people say it, sent as the SDK does.
    ['1.2.3', 'com.acme@1.2.2+99', false],
    ['1.2.3', 'com.acme@1.2.3+1', true],
    ['com.acme@1.2.3', '1.2.4', true],
  ])('%s: an event of %s has the fix: %s', (fix, release, expected) => {
    expect(met(inReleases(fix), release)).toBe(expected)
  })

  test('an equal version has the fix, whoever was seen first: the fix itself is often only planned', () => {
    const releases = seen({ '2.3': null, '2.3.1': null, '2.3.0': 1, 'com.acme@2.3.1+77': 1, 'v2.3.1': 3 })
    expect(met(inReleases('2.3'), '2.3.0', releases)).toBe(true)
    expect(met(inReleases('2.3.1'), 'com.acme@2.3.1+77', releases)).toBe(true)
    expect(met(inReleases('2.3.1'), 'v2.3.1', releases)).toBe(true)
    expect(met(inReleases('2.3.1'), '2.3.0', releases)).toBe(false)
  })

  test('builds without an order, and names of which nothing is known, do not have it', () => {
    expect(met(inReleases('1.0.0+abc'), '1.0.0+def')).toBe(false)
    expect(met(inReleases('9f2c1d07'), 'ab34ff01')).toBe(false)
    expect(met(inReleases('9f2c1d07'), 'ab34ff01', seen({ '9f2c1d07': 3, ab34ff01: 3 }))).toBe(false)
    expect(met(inReleases('1.0.0+abc'), '1.0.0+def', seen({ '1.0.0+abc': 3, '1.0.0+def': 4 }))).toBe(true)
    // One release date says nothing.
    const dated = seen({ aaa: 3, bbb: 4 }, { bbb: 1 })
    expect(met(inReleases('aaa'), 'bbb', dated)).toBe(true)
  })

  test('apps of two packages in one project: each has its own fix', () => {
    const releases = seen({ 'com.a@2.0.0': 5, 'com.b@3.0.0': 5, 'com.b@2.9.0': 6, 'com.a@1.9.9': 6, 'com.c@1.0': 6 })
    const fix = inReleases('com.a@2.0.0', 'com.b@3.0.0')
    expect(met(fix, 'com.b@2.9.0', releases), 'younger than the fix of the other one').toBe(false)
    expect(met(fix, 'com.a@1.9.9', releases)).toBe(false)
    expect(met(fix, 'com.a@2.0.1', releases)).toBe(true)
    expect(met(fix, 'com.b@3.0.0', releases)).toBe(true)
    expect(met(fix, 'com.c@1.0', releases), 'a third one, by time').toBe(true)
  })

  test('a hash among fixes on two branches has them when it is younger than both', () => {
    const releases = seen({ aaa: 2, ccc: 5, bbb: 3, ddd: 6 })
    expect(met(inReleases('aaa', 'ccc'), 'bbb', releases)).toBe(false)
    expect(met(inReleases('aaa', 'ccc'), 'ddd', releases)).toBe(true)
  })

  test('an event without a release has it never', () => {
    expect(met(inReleases('1.0.0'), null)).toBe(false)
  })

  test('names nobody can order go by release date, then by who was seen first', () => {
    const releases = seen({ aaa: 1, bbb: 2, ccc: 3, '🚀 launch': 4, other: 5 }, { aaa: 9, bbb: 8 })
    expect(met(inReleases('aaa'), 'bbb', releases)).toBe(false)
    expect(met(inReleases('bbb'), 'aaa', releases)).toBe(true)
    expect(met(inReleases('ccc'), '🚀 launch', releases)).toBe(true)
    expect(met(inReleases('other'), '🚀 launch', releases)).toBe(false)
  })

  test('a planned release is still to come: what is seen before it is older', () => {
    expect(met(inReleases('ccc'), 'bbb', seen({ bbb: 2, ccc: null }))).toBe(false)
    expect(met(inReleases('x'.repeat(200)), 'x'.repeat(200))).toBe(true)
  })
})

describe('brought to several branches', () => {
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
    expect(met(fix, release)).toBe(expected)
    expect(met(inReleases('3.0.2', '2.3.1'), release)).toBe(expected)
  })

  test('a branch between them, without a fix of its own, has it unless it is known to have been out before the one below', () => {
    const has = (days: Record<string, number | null>, released?: Record<string, number>) =>
      met(fix, '2.4.0', seen(days, released))
    expect(has({ '2.3.1': 5, '2.4.0': 3 })).toBe(false)
    expect(has({ '2.3.1': 5, '2.4.0': 6 })).toBe(true)
    expect(has({ '2.3.1': 5, '2.4.0': 6 }, { '2.3.1': 9, '2.4.0': 2 })).toBe(false)
    // Versions are the first word: where times say nothing, it is not older than 2.3.1.
    expect(met(fix, '2.4.0'), 'nothing is known').toBe(true)
    expect(has({ '2.3.1': null, '2.4.0': 12 }), 'seen since, the fix is only planned').toBe(true)
    expect(has({ '2.3.1': null, '2.4.0': 9 }), 'what was seen already is older than what is to come').toBe(false)
    expect(has({ '2.3.1': null, '2.4.0': 12 }, { '2.3.1': 4 }), 'seen after the fix was out').toBe(true)
    expect(has({ '2.3.1': null, '2.4.0': 3 }, { '2.3.1': 4 }), 'seen before the fix was out').toBe(false)
  })
})

describe('resolved in the next release', () => {
  const next: Fix = { kind: 'next', after: '2.3.0' }
  test('only what is newer than the newest one of then, and was not there yet, has the fix', () => {
    const releases = seen({ '2.2.0': 1, '2.3.0': 2, '2.2.9': 12, '2.3.1': 12, '1.0.0-old': 12, '9.0.0': 3 })
    expect(met(next, '2.3.0', releases)).toBe(false)
    expect(met(next, '2.3.1', releases)).toBe(true)
    expect(met(next, '2.2.9', releases), 'a branch without the fix').toBe(false)
    expect(met(next, '9.0.0', releases), 'seen before').toBe(false)
    expect(met(next, null, releases)).toBe(false)
  })
  test('the same version in other words is not the next one', () => {
    const releases = seen({ '2.3.0': 2, 'v2.3': 12, 'shop@2.3.0+4': 12, '2.3.0.1': 12 })
    expect(met(next, 'v2.3', releases)).toBe(false)
    expect(met(next, 'shop@2.3.0+4', releases)).toBe(false)
    expect(met(next, '2.3.0.1', releases)).toBe(true)
  })
  test('with two packages, hashes and releases nothing came from, each is judged by its own kind', () => {
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
    expect(met(fix, 'com.a@0.9.5', releases), 'an old app met for the first time').toBe(false)
    expect(met(fix, 'com.a@1.1.0', releases)).toBe(true)
    expect(met(fix, 'def', releases)).toBe(true)
    expect(met(fix, 'unheard of', releases)).toBe(false)
    const later = new Map(releases).set('made', {
      version: 'made',
      releasedAt: null,
      firstSeenAt: new Date('2026-11-13'),
    })
    expect(met(fix, 'made', later), 'known then, seen later').toBe(false)
  })
  test('the newest one by version, not by time; with and without the package it is one app', () => {
    const of = (...versions: string[]) =>
      nextAfter(versions.map((version) => ({ version, releasedAt: null, firstSeenAt: new Date('2026-11-01') })))
    expect(of('2.2.9', '2.3.0', '2.3.0-rc.1')).toEqual({ kind: 'next', after: '2.3.0' })
    expect(of('2.3.0', 'com.a@2.4.0')).toEqual({ kind: 'next', after: 'com.a@2.4.0' })
    expect(of()).toEqual({ kind: 'next', after: null })
    expect(of('2.0.0', 'fff', 'eee')).toEqual({ kind: 'next', after: '2.0.0', besides: ['fff'] })
  })
  test('a package in one project for each of thousands of apps is worked out at once', () => {
    const releases = Array.from({ length: 5_000 }, (_, i): ReleaseFacts => {
      const version = i === 2_500 ? '1.5.0' : `com.app${i}@1.${i % 9}.${i}`
      return { version, releasedAt: null, firstSeenAt: RESOLVED }
    })
    const startMs = cpuMs()
    const fix = nextAfter(releases)
    expect(cpuMs() - startMs).toBeLessThan(1_000)
    // Those below the one without a package may be the same app.
    expect(fix).toMatchObject({
      after: 'com.app5@1.5.5',
      besides: expect.not.arrayContaining(['com.app1@1.1.1', '1.5.0']) as string[],
    })
  })
  test('where none was known, the first one', () => {
    expect(met({ kind: 'next', after: null }, '1.0', seen({ '1.0': 12 }))).toBe(true)
    expect(met({ kind: 'next', after: null }, '1.0', seen({ '1.0': 9 }))).toBe(false)
  })
})

test('resolved in a commit: no release has it until one is known to', () => {
  expect(met({ kind: 'commit', sha: 'abcdef1' }, '9.0.0')).toBe(false)
  expect(met({ kind: 'commit', sha: 'abcdef1' }, null)).toBe(false)
})

test('a plain resolve is met by everything', () => {
  expect(met({ kind: 'now' }, null)).toBe(true)
  expect(met({ kind: 'now' }, '0.0.1')).toBe(true)
})
