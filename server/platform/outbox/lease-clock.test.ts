import { expect, test } from 'vitest'
import { createLeaseClock } from './start-deliverer.ts'

const LEASE_MS = 30_000
const START = 1_800_000_000_000

test('before the first look no lease has ended; then those that the database says', () => {
  const clock = createLeaseClock(LEASE_MS)
  expect(clock.endedBy(5)).toBe(-Infinity)
  clock.observe(START, 100)
  expect(clock.endedBy(100)).toBeGreaterThanOrEqual(START)
  expect(clock.endedBy(60_100)).toBeGreaterThanOrEqual(START + 60_000)
})

test('a jump forward counts after one lease', () => {
  const clock = createLeaseClock(LEASE_MS)
  clock.observe(START, 0)
  for (let ms = 250; ms < LEASE_MS; ms += 250) {
    clock.observe(START + 3_600_000 + ms, ms)
    expect(clock.endedBy(ms)).toBeLessThan(START + LEASE_MS + 2_000)
  }
  clock.observe(START + 3_600_000 + LEASE_MS + 250, LEASE_MS + 250)
  expect(clock.endedBy(LEASE_MS + 250)).toBeGreaterThan(START + 3_600_000)
})

test('a second jump begins the observation again', () => {
  const clock = createLeaseClock(LEASE_MS)
  clock.observe(START, 0)
  clock.observe(START + 100_000, 250)
  clock.observe(START + 200_000, 29_000)
  clock.observe(START + 202_000, 31_000)
  expect(clock.endedBy(31_000)).toBeLessThan(START + 34_000)
  clock.observe(START + 230_000, 59_000)
  expect(clock.endedBy(59_000)).toBeGreaterThan(START + 230_000)
})

test('a jump backward counts immediately, and the return from it is a jump forward', () => {
  const clock = createLeaseClock(LEASE_MS)
  clock.observe(START, 0)
  clock.observe(START - 3_600_000, 250)
  clock.observe(START, 500)
  expect(clock.endedBy(500)).toBeLessThan(START - 3_000_000)
})

test('an answer that came late is no jump, and slow drift is followed', () => {
  const clock = createLeaseClock(LEASE_MS)
  clock.observe(START, 0)
  clock.observe(START + 5_250, 250)
  for (let ms = 500; ms < 40_000; ms += 250) clock.observe(START + ms, ms)
  expect(clock.endedBy(40_000)).toBeLessThan(START + 43_000)
  // Two hundred seconds a day.
  const drifted = (ms: number): number => START + ms * (1 + 200 / 86_400)
  for (let ms = 40_000; ms < 4_000_000; ms += 10_000) clock.observe(drifted(ms), ms)
  expect(Math.abs(clock.endedBy(4_000_000) - drifted(4_000_000))).toBeLessThan(4_000)
})
