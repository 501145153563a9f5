import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findDrains, type BatteryState } from './battery-drain.ts'

const MINUTE = 60_000
const level = (minute: number, percent: number, isCharging = false) => ({ atMs: minute * MINUTE, percent, isCharging })
const rates = (levels: readonly ReturnType<typeof level>[], state: BatteryState | null = null) =>
  findDrains(state, levels).drains.map(({ percentPerHour }) => percentPerHour)

test('percent per hour between levels at least ten minutes apart', () => {
  expect(rates([level(0, 80), level(30, 75)])).toEqual([10])
  expect(rates([level(0, 80), level(9, 75)])).toEqual([])
  expect(rates([level(0, 80), level(5, 79), level(10, 78), level(15, 77), level(20, 76)])).toEqual([12, 12])
  expect(rates([level(0, 80), level(60, 80)])).toEqual([0])
})

test('not over charging, a rise, or more than a day', () => {
  expect(rates([level(0, 80), level(10, 80, true), level(20, 70), level(50, 65)])).toEqual([10])
  expect(rates([level(0, 50), level(30, 60), level(60, 50)])).toEqual([20])
  expect(rates([level(0, 50), level(24 * 60 + 1, 40)])).toEqual([])
})

test('continues where the last event ended, and reads no level twice', () => {
  const first = findDrains(null, [level(0, 80), level(30, 75)])
  expect(rates([level(0, 80), level(30, 75)], first.state)).toEqual([])
  expect(rates([level(0, 80), level(30, 75), level(60, 72)], first.state)).toEqual([6])
})

test('gives the same drains however levels are cut into events', () => {
  const levels = fc
    .array(
      fc.record({
        gap: fc.integer({ min: 1, max: 90 }),
        percent: fc.integer({ min: 0, max: 100 }),
        charging: fc.boolean(),
      }),
    )
    .map((list) => {
      let minute = 0
      return list.map(({ gap, percent, charging }) => level((minute += gap), percent, charging))
    })
  fc.assert(
    fc.property(levels, fc.array(fc.nat(20)), (all, cuts) => {
      let state: BatteryState | null = null
      const drains = []
      for (const cut of [...cuts.toSorted((a, b) => a - b), all.length]) {
        // Every event repeats the breadcrumbs of those before.
        const read = findDrains(state, all.slice(0, cut))
        drains.push(...read.drains)
        state = read.state
      }
      expect(drains).toEqual(findDrains(null, all).drains)
    }),
  )
})
