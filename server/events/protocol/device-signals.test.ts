import { expect, test } from 'vitest'
import { deviceSignals } from './device-signals.ts'

const AT = new Date('2026-11-20T12:00:00Z')
const ago = (minutes: number): string => new Date(AT.getTime() - minutes * 60_000).toISOString()
const crumb = (minutes: number, data: Record<string, unknown>) => ({
  type: 'system',
  category: 'device.event',
  timestamp: ago(minutes),
  data,
})
const signals = (raw: Record<string, unknown>, shiftMs = 0) => deviceSignals(raw, AT, shiftMs)
const inMinutes = (raw: Record<string, unknown>) =>
  signals(raw)?.levels.map(({ atMs, percent, isCharging }) => [(AT.getTime() - atMs) / 60_000, percent, isCharging])

test('battery levels of breadcrumbs and context, oldest first', () => {
  const raw = {
    breadcrumbs: {
      values: [
        crumb(20, { action: 'BATTERY_CHANGED', level: 80.5, charging: false }),
        crumb(50, { action: 'BATTERY_STATE_CHANGE', level: 90, plugged: true }),
      ],
    },
    contexts: { device: { battery_level: 70, charging: false } },
  }
  expect(inMinutes(raw)).toEqual([
    [50, 90, true],
    [20, 80.5, false],
    [0, 70, false],
  ])
})

test.each([
  ['unknown charging', { level: 50 }],
  ['above 100', { level: 101, charging: false }],
  ['below 0', { level: -1, charging: false }],
  ['no number', { level: 'full', charging: false }],
  ['null', { level: null, charging: false }],
])('a level with %s is ignored', (_what, data) => {
  expect(signals({ breadcrumbs: [crumb(5, { action: 'BATTERY_CHANGED', ...data })] })).toBeNull()
})

test('warnings of breadcrumbs and states of the device', () => {
  const raw = {
    breadcrumbs: [crumb(5, { action: 'LOW_MEMORY' }), crumb(3, { action: 'LOW_MEMORY' })],
    contexts: { device: { thermal_state: 'Critical', low_memory: true } },
  }
  expect(signals(raw)?.warnings.map(({ metric, isState }) => [metric, isState])).toEqual([
    ['low_memory', false],
    ['low_memory', false],
    ['thermal_critical', true],
  ])
  expect(signals({ contexts: { device: { low_memory: true, thermal_state: 'serious' } } })?.warnings).toEqual([
    { metric: 'thermal_serious', atMs: AT.getTime(), isState: true },
    { metric: 'low_memory', atMs: AT.getTime(), isState: true },
  ])
  expect(signals({ contexts: { device: { low_memory: false, thermal_state: 'fair' } } })).toBeNull()
})

test('times are corrected like the event; those after it or a day before it are ignored', () => {
  const low = (minutes: number) => ({ breadcrumbs: [crumb(minutes, { action: 'LOW_MEMORY' })] })
  expect(signals(low(-30))).toBeNull()
  expect(signals(low(24 * 60 + 1))).toBeNull()
  expect(deviceSignals(low(-30), AT, -60 * 60_000)?.warnings[0]?.atMs).toBe(AT.getTime() - 30 * 60_000)
})

test.each([
  ['nothing', {}],
  ['breadcrumbs of wrong types', { breadcrumbs: [1, null, 'x', { category: 'device.event' }, { data: [] }] }],
  ['a breadcrumb without time', { breadcrumbs: [{ category: 'device.event', data: { action: 'LOW_MEMORY' } }] }],
  ['contexts of wrong types', { contexts: { device: 7 } }],
  ['breadcrumbs that are a number', { breadcrumbs: 5, contexts: [] }],
])('%s', (_what, raw) => {
  expect(signals(raw)).toBeNull()
})
