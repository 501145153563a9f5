import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { coveredCells, listWindowEnds, pointsOver, splitIntoStretches } from './history-windows.ts'

const NOW = new Date('2026-11-20T12:07:00.000Z')
const HOUR_MS = 3_600_000
const WEEK_AGO = new Date(NOW.getTime() - 7 * 24 * HOUR_MS)
const text = (at: Date | undefined) => at?.toISOString().slice(5, 16)

test('quarters of an hour of two days, hours before', () => {
  const stretches = splitIntoStretches(WEEK_AGO, NOW, 15, NOW)
  expect(
    stretches.map((one) => [
      one.intervalMs / HOUR_MS,
      one.length,
      text(listWindowEnds(one)[0]?.at),
      text(listWindowEnds(one).at(-1)?.at),
    ]),
  ).toEqual([
    [1, 1, '11-13T13:00', '11-18T14:00'],
    [0.25, 1, '11-18T14:15', '11-20T12:00'],
  ])
})

test('a window of quarters of an hour lies in the last two days', () => {
  const [, fine] = splitIntoStretches(WEEK_AGO, NOW, 60, NOW)
  expect(fine?.length).toBe(4)
  expect(fine?.readFrom.getTime()).toBeGreaterThanOrEqual(NOW.getTime() - 48 * HOUR_MS)
})

test('long windows move by hours', () => {
  const stretches = splitIntoStretches(WEEK_AGO, NOW, 1_440, NOW)
  expect(stretches.map((one) => [one.intervalMs / HOUR_MS, one.length, text(one.readFrom)])).toEqual([
    [1, 24, '11-12T13:00'],
  ])
})

describe('for every range and window', () => {
  const ranges = fc.record({
    minutes: fc.integer({ min: 1, max: 10_080 }),
    agoMinutes: fc.integer({ min: 1, max: 20_000 }),
    window: fc.integer({ min: 1, max: 10_080 }),
  })
  test('ends follow each other without a gap, inside the range, and windows are long enough', () => {
    fc.assert(
      fc.property(ranges, ({ minutes, agoMinutes, window }) => {
        const to = new Date(NOW.getTime() - agoMinutes * 60_000)
        const from = new Date(to.getTime() - minutes * 60_000)
        const stretches = splitIntoStretches(from, to, window, NOW)
        const ends = stretches.flatMap((one) => listWindowEnds(one).map(({ at }) => ({ at: at.getTime(), one })))
        for (const [index, { at, one }] of ends.entries()) {
          expect(at).toBeLessThanOrEqual(to.getTime())
          expect(at).toBeGreaterThan(from.getTime() - HOUR_MS)
          expect(one.length * one.intervalMs).toBeGreaterThanOrEqual(window * 60_000)
          const before = ends[index - 1]
          if (before !== undefined) expect(at - before.at).toBe(one.intervalMs)
        }
      }),
    )
  })

  test('each window has the cells of its own intervals', async () => {
    const [stretch] = splitIntoStretches(WEEK_AGO, NOW, 180, NOW)
    if (stretch === undefined) throw new Error('no stretch')
    const cells = new Map([
      [1, 10],
      [2, 20],
      [4, 40],
    ])
    expect(coveredCells(stretch, cells, 2)).toEqual([10, 20])
    const points = await pointsOver(
      [stretch],
      'x',
      () => cells,
      (covered) => ({
        value: covered.reduce((sum, one) => sum + one, 0),
        holds: false,
      }),
    )
    expect(points.slice(0, 5).map(({ value }) => value)).toEqual([30, 30, 60, 40, 40])
  })
})
