import { expect, test } from 'vitest'
import { sliceShown, buildTimeAxis } from './time-axis-of.ts'
import type { Window } from './time-window.ts'

const HOUR_S = 3_600
const points = Array.from({ length: 24 }, (_, hour) => ({
  t: new Date(Date.parse('2026-11-20T00:00:00Z') + hour * HOUR_S * 1000).toISOString(),
  ...(hour === 23 ? { incomplete: true } : {}),
}))

function axisOf(window: Window | null) {
  const chosen: (Window | null)[] = []
  const axis = buildTimeAxis({
    points,
    intervalSeconds: HOUR_S,
    range: '24h',
    window,
    releases: [{ version: 'shop@4.12.0', at: '2026-11-20T12:00:00Z' }],
    onWindow: (next) => chosen.push(next),
  })
  return { axis, chosen }
}

test('the whole range ends with the bucket that is still being counted', () => {
  const { axis } = axisOf(null)
  expect(axis).toMatchObject({ shown: [0, 23], openEnd: true, markers: [{ at: 0.5, label: '4.12.0' }] })
  expect(axis.names).toHaveLength(24)
  expect(axis.ticks.at(-1)).toEqual({ at: 1, text: 'now' })
})

test('a part is drawn alone, and a drag in it selects a part of the part', () => {
  const { axis, chosen } = axisOf({ from: '2026-11-20T06:00Z', to: '2026-11-20T12:00Z' })
  expect(axis).toMatchObject({ shown: [6, 11], openEnd: false })
  expect(sliceShown(points, axis)[0]?.t).toBe('2026-11-20T06:00:00.000Z')
  axis.choice.onChoose([1, 2])
  // One bucket is no line: nothing changes.
  axis.choice.onChoose([3, 3])
  expect(chosen).toEqual([{ from: '2026-11-20T07:00Z', to: '2026-11-20T09:00Z' }])
})

test('a part of one bucket, or outside the range, is the whole range', () => {
  expect(axisOf({ from: '2026-11-20T06:10Z', to: '2026-11-20T06:50Z' }).axis.shown).toEqual([0, 23])
  expect(axisOf({ from: '2026-11-01T00:00Z', to: '2026-11-02T00:00Z' }).axis.shown).toEqual([0, 23])
})
