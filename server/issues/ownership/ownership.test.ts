import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { normalizeEvent } from '../../events/protocol/normalize.ts'
import { OwnershipRules } from './ownership-rules.api.ts'
import { compileOwnership, decidingMatch } from './ownership.ts'

const event = (fields: Record<string, unknown>) =>
  normalizeEvent(fields, {
    eventId: 'a'.repeat(32),
    receivedAt: new Date('2026-11-20T12:00:00Z'),
    sentAt: null,
    clientIp: null,
    userAgent: null,
    defaultEnvironment: 'production',
  })

const withFrames = (...frames: Record<string, unknown>[]) =>
  event({ exception: { values: [{ type: 'Oops', value: 'x', stacktrace: { frames } }] } })

const ADA = '01890000-0000-7000-8000-000000000001'
const BOB = '01890000-0000-7000-8000-000000000002'

function assigneesOf(rules: unknown[], subject = withFrames({ filename: 'src/checkout/pay.ts', in_app: true })) {
  const matcher = compileOwnership(OwnershipRules.parse(rules))
  return matcher === null ? null : matcher(subject)().map(({ rule, text }) => [rule.user_id ?? rule.team, text])
}

describe('ownership rules', () => {
  test('without rules there is no matcher', () => {
    expect(compileOwnership([])).toBeNull()
  })

  test('later rules match first, and a team ends the search', () => {
    const rules = [
      { match: 'path', glob: '*', team: 'everybody' },
      { match: 'path', glob: 'src/*', user_id: ADA },
      { match: 'path', glob: 'src/checkout/*', user_id: BOB },
      { match: 'path', glob: 'src/search/*', team: 'search' },
    ]
    expect(assigneesOf(rules)?.map(([who]) => who)).toEqual([BOB, ADA, 'everybody'])
  })

  test.each([
    ['src/checkout/*', { filename: 'src/checkout/pay.ts' }, true],
    ['src/checkout/*', { filename: 'app:///src/checkout/pay.ts' }, true],
    ['src/checkout/*', { abs_path: '/home/app/src/checkout/pay.ts' }, true],
    ['SRC\\Checkout\\*', { abs_path: 'C:\\build\\src\\checkout\\Pay.cs' }, true],
    ['checkout/*', { filename: 'src/mycheckout/pay.ts' }, false],
    ['src/checkout/', { filename: 'app:///src/checkout/deep/pay.ts' }, true],
    ['src/checkout/', { filename: 'src/checkout' }, false],
    ['/src/', { abs_path: '/app/src/pay.ts' }, false],
    ['src/**', { filename: 'src/a/b/pay.ts' }, true],
    ['/src/*', { filename: 'src/pay.ts' }, true],
    ['/src/*', { abs_path: '/app/src/pay.ts' }, false],
    ['*.ts', { filename: 'a/b/pay.ts' }, true],
    ['pay.ts', { filename: 'a/b/pay.ts' }, true],
    ['pay.ts', { filename: 'a/b/overpay.ts' }, false],
  ])('path %s and %j', (glob, frame, matches) => {
    const subject = withFrames({ ...frame, in_app: true })
    expect(assigneesOf([{ match: 'path', glob, team: 'x' }], subject)).toHaveLength(matches ? 1 : 0)
  })

  test('library frames match only if there are no in-app frames', () => {
    const rule = [{ match: 'path', glob: 'lib/*', team: 'libraries' }]
    const own = { filename: 'src/a.ts', in_app: true }
    const theirs = { filename: 'lib/b.ts', in_app: false }
    expect(assigneesOf(rule, withFrames(theirs, own))).toEqual([])
    expect(assigneesOf(rule, withFrames(theirs))).toEqual([['libraries', '/lib/b.ts']])
  })

  test('modules, addresses and tags', () => {
    const subject = event({
      exception: {
        values: [
          { type: 'Oops', stacktrace: { frames: [{ module: 'com.acme.Checkout', function: 'f', in_app: true }] } },
        ],
      },
      request: { url: 'https://shop.example.com/checkout?step=2' },
      tags: { 'squad.name': 'Payments' },
    })
    expect(assigneesOf([{ match: 'module', glob: 'com.acme.*', team: 'm' }], subject)).toEqual([
      ['m', 'com.acme.Checkout'],
    ])
    expect(assigneesOf([{ match: 'url', glob: '*/checkout*', team: 'u' }], subject)).toHaveLength(1)
    expect(assigneesOf([{ match: 'tag.squad.name', glob: 'payments', team: 't' }], subject)).toEqual([
      ['t', 'Payments'],
    ])
    expect(assigneesOf([{ match: 'tag.squad', glob: '*', team: 't' }], subject)).toEqual([])
  })

  test('rules of former members are skipped', () => {
    const matcher = compileOwnership(
      OwnershipRules.parse([
        { match: 'path', glob: '*', user_id: ADA },
        { match: 'path', glob: 'src/*', user_id: BOB },
      ]),
    )
    const matches = matcher?.(withFrames({ filename: 'src/a.ts', in_app: true }))() ?? []
    expect(decidingMatch(matches, new Map([[ADA, 1]]))?.rule.user_id).toBe(ADA)
    expect(decidingMatch(matches, new Map())).toBeNull()
  })

  test('200 hostile globs over a deep stack take less than a second of processor time', () => {
    const rules = Array.from({ length: 200 }, (_, n) => ({ match: 'path', glob: `${'*a'.repeat(95)}${n}`, team: 'x' }))
    const frames = Array.from({ length: 300 }, (_, n) => ({ filename: `${'a'.repeat(240)}${n}.ts`, in_app: true }))
    const subject = withFrames(...frames)
    const started = cpuMs()
    expect(assigneesOf(rules, subject)).toEqual([])
    expect(cpuMs() - started).toBeLessThan(1_000)
  })

  test.each([
    [{ match: 'file', glob: 'x', team: 'a' }],
    [{ match: 'tag.', glob: 'x', team: 'a' }],
    [{ match: 'path', glob: '', team: 'a' }],
    [{ match: 'path', glob: 'x'.repeat(201), team: 'a' }],
    [{ match: 'path', glob: 'x' }],
    [{ match: 'path', glob: 'x', team: 'a', user_id: ADA }],
    [{ match: 'path', glob: 'x', team: '  ' }],
    [{ match: 'path', glob: 'x', team: 'a\nb' }],
    [{ match: 'path', glob: 'x', team: 'a'.repeat(61) }],
    [{ match: 'path', glob: 'x', user_id: 'ada' }],
    [{ match: 'path', glob: 'x', team: 'a', more: 1 }],
  ])('%j is refused', (rule) => {
    expect(OwnershipRules.safeParse([rule]).success).toBe(false)
  })

  test('at most 200 rules are accepted', () => {
    const rule = { match: 'path', glob: 'x', team: 'a' }
    expect(OwnershipRules.safeParse(Array.from({ length: 200 }, () => rule)).success).toBe(true)
    expect(OwnershipRules.safeParse(Array.from({ length: 201 }, () => rule)).success).toBe(false)
  })
})
