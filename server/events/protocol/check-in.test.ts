import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCheckIn, readSlug, readCrontab } from './check-in.ts'

const ID = '391c33d69bc840bfb25e1f185440059f'
const read = (fields: Record<string, unknown> = {}) =>
  readCheckIn({ check_in_id: ID, monitor_slug: 'nightly', status: 'ok', ...fields }, 'production')

describe('a crontab', () => {
  test.each([
    ['0 3 * * *', '0 3 * * *'],
    ['  */5   0-6,12  1,15  jan-mar/2  MON-FRI ', '*/5 0-6,12 1,15 jan-mar/2 mon-fri'],
    ['0 0 L * 7', '0 0 l * 7'],
    ['@Daily', '@daily'],
  ])('%j is valid', (text, plain) => {
    expect(readCrontab(text)).toBe(plain)
  })

  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    '1/2/3 * * * *',
    ', * * * *',
    '* * * * moonday',
    '@reboot',
    'l * * * *',
    '-1 * * * *',
    '* * * * *; rm -rf /',
    '* '.repeat(100_000),
    '1,'.repeat(100_000),
  ])('%.40j is invalid', (text) => {
    expect(readCrontab(text)).toBeNull()
  })

  test('any text is read quickly, with a plain result', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        const plain = readCrontab(text)
        if (plain !== null) expect(readCrontab(plain)).toBe(plain)
      }),
    )
  })
})

describe('a check-in', () => {
  test('is read with all fields', () => {
    expect(read({ duration: 3.2, environment: 'dev', release: 'a@1' })).toEqual({
      id: ID,
      slug: 'nightly',
      status: 'ok',
      durationMs: 3200,
      environment: 'dev',
      release: 'a@1',
      traceId: null,
      config: null,
      notes: [],
    })
  })

  test.each([
    ['Nightly Report', 'nightly-report'],
    ['Größe: täglich', 'große-taglich'.replace('ß', '-')],
    ['a__b--c', 'a__b-c'],
    ['../../etc/passwd', 'etc-passwd'],
  ])('slug %j is %j', (slug, expected) => {
    expect(readSlug(slug)).toBe(expected)
  })

  test('a name of 128 characters of any script is read, and names that differ at their end stay different', () => {
    expect(readSlug('a'.repeat(128))).toBe('a'.repeat(128))
    expect(readSlug(`${'🙂'.repeat(100)} nightly`)).toBe('nightly')
    const long = 'a'.repeat(120)
    expect(readSlug(`${long}-x1`)).not.toBe(readSlug(`${long}-x2`))
  })

  test.each([null, 1, '', '///', 'x'.repeat(129), 'x'.repeat(10_000), {}, ['a']])(
    'slug %.20j: bad_slug',
    (monitor_slug) => {
      expect(read({ monitor_slug })).toEqual({ invalid: 'bad_slug' })
    },
  )

  test('an id of zeros, or none, means the latest open one; an invalid id is refused', () => {
    for (const check_in_id of [undefined, null, '', '0'.repeat(32), '00000000-0000-0000-0000-000000000000'])
      expect(read({ check_in_id })).toMatchObject({ id: null })
    for (const check_in_id of ['x', 7, {}]) expect(read({ check_in_id })).toEqual({ invalid: 'bad_check_in_id' })
  })

  test.each([undefined, 'missed', 'OK', 1, 'x'.repeat(1_000_000)])('status %.20j: bad_status', (status) => {
    expect(read({ status })).toEqual({ invalid: 'bad_status' })
  })

  test.each([-1, 1e300, 'soon', [], 40_000_000])('duration %j is left out with a note', (duration) => {
    expect(read({ duration })).toMatchObject({ durationMs: null, notes: [{ name: 'duration' }] })
  })

  test('a configuration is read', () => {
    const monitor_config = {
      schedule: { type: 'interval', value: 2, unit: 'hour' },
      timezone: 'Europe/Berlin',
      checkin_margin: 5,
      max_runtime: '30',
      owner: 'team:ops',
    }
    expect(read({ monitor_config })).toMatchObject({
      config: {
        schedule: { type: 'interval', value: 2, unit: 'hour' },
        timezone: 'Europe/Berlin',
        checkinMarginMinutes: 5,
        maxRuntimeMinutes: 30,
        failureIssueThreshold: null,
        owner: 'team:ops',
      },
      notes: [],
    })
  })

  test.each([
    ['an invalid crontab', { schedule: { type: 'crontab', value: 'whenever' } }],
    ['an unknown unit', { schedule: { type: 'interval', value: 1, unit: 'fortnight' } }],
    ['no number', { schedule: { type: 'interval', value: 0, unit: 'day' } }],
    ['no schedule', { timezone: 'UTC' }],
    ['an unknown time zone', { schedule: { type: 'crontab', value: '@daily' }, timezone: 'Mars/Olympus' }],
    ['a zone of a megabyte', { schedule: { type: 'crontab', value: '@daily' }, timezone: 'A'.repeat(1_000_000) }],
    ['no object', 'daily'],
  ])('%s: the configuration is ignored with a note, the check-in is kept', (_name, monitor_config) => {
    expect(read({ monitor_config })).toMatchObject({ config: null, status: 'ok', notes: [{}] })
  })

  test('a single wrong number is ignored with a note, the schedule is kept', () => {
    const monitor_config = { schedule: { type: 'crontab', value: '@daily' }, checkin_margin: -5, max_runtime: 1e9 }
    expect(read({ monitor_config })).toMatchObject({
      config: { checkinMarginMinutes: null, maxRuntimeMinutes: null, timezone: 'UTC' },
      notes: [{ name: 'monitor_config.checkin_margin' }, { name: 'monitor_config.max_runtime' }],
    })
  })
})
