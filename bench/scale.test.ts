import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SCENARIOS, scaleOf } from './scale.ts'

test('more events, higher peaks and slower machines need more; fewer kept events need less disk', () => {
  const { middle } = SCENARIOS
  const base = scaleOf(middle)
  expect(base.peakPerSecond).toBeCloseTo(34_722, 0)
  expect(scaleOf({ ...middle, eventsPerDay: 2e9 }).storedTB).toBeCloseTo(base.storedTB * 2, 6)
  expect(scaleOf({ ...middle, peakFactor: 6 }).cells).toBeGreaterThanOrEqual(base.cells * 2 - 1)
  expect(scaleOf({ ...middle, slowdown: 2.8 }).cells).toBeGreaterThan(base.cells)
  expect(scaleOf({ ...middle, keptShare: 0.1 }).storedTB).toBeLessThan(base.storedTB)
  expect(scaleOf({ ...middle, copies: 4 }).machines).toBe(base.machines * 2)
})

test('a slow log, or few cores, is what limits a cell', () => {
  const { middle } = SCENARIOS
  expect(scaleOf({ ...middle, walMiBPerSecond: 10 }).limit).toBe('log')
  expect(scaleOf({ ...middle, coresPerMachine: 4 }).limit).toBe('processors')
  expect(scaleOf({ ...middle, coresPerMachine: 64, walMiBPerSecond: 400 }).limit).toBe('digest threads')
})

test('docs/scaling.md has these figures', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/scaling.md'), 'utf8')
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    const { peakPerSecond, cellPerSecond, cells, machines, cores, storedTB, usdPerMonth } = scaleOf(scenario)
    const shown = (value: number): string => Math.round(value).toLocaleString('en')
    const row = [name, ...[peakPerSecond, cellPerSecond, cells, machines, cores, storedTB, usdPerMonth].map(shown)]
    expect(page).toContain(`| ${row.join(' | ')} |`)
  }
})
