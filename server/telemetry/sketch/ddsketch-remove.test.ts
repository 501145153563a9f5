import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DDSketch } from './ddsketch.ts'

const durations = fc.array(fc.nat(100_000), { maxLength: 60 })

test('after a removal the sketch is as if the number was never added, within 1 %', () => {
  fc.assert(
    fc.property(durations, durations, fc.nat(), (stay, go, seed) => {
      const sketch = DDSketch.of([...stay, ...go])
      const order = go.toSorted((a, b) => ((a * 31 + seed) % 97) - ((b * 31 + seed) % 97))
      for (const value of order) sketch.remove(value)
      const sorted = stay.toSorted((a, b) => a - b)
      expect(sketch.count).toBe(stay.length)
      expect(sketch.sum).toBe(stay.reduce((a, b) => a + b, 0))
      for (const q of [0, 0.25, 0.5, 0.95, 1]) {
        const exact = sorted[Math.floor(q * (sorted.length - 1))]
        const read = sketch.quantile(q)
        if (exact === undefined) expect(read).toBeNull()
        else expect(Math.abs((read ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.0101)
      }
      const back = DDSketch.fromBytes(sketch.toBytes())
      expect([back.count, back.min, back.max]).toEqual([sketch.count, sketch.min, sketch.max])
    }),
  )
})

test('removing from an empty sketch changes nothing', () => {
  const sketch = new DDSketch()
  sketch.remove(5)
  expect([sketch.count, sketch.sum, sketch.min, sketch.quantile(0.5)]).toEqual([0, 0, null, null])
})

test('subtracting a sketch equals removing its numbers, within 1 %', () => {
  fc.assert(
    fc.property(durations, durations, (stay, go) => {
      const sketch = DDSketch.of([...go, ...stay])
      sketch.subtract(DDSketch.fromBytes(DDSketch.of(go).toBytes()))
      const sorted = stay.toSorted((a, b) => a - b)
      expect(sketch.count).toBe(stay.length)
      expect(sketch.sum).toBe(stay.reduce((a, b) => a + b, 0))
      for (const q of [0, 0.25, 0.5, 0.95, 1]) {
        const exact = sorted[Math.floor(q * (sorted.length - 1))]
        const read = sketch.quantile(q)
        if (exact === undefined) expect(read).toBeNull()
        else expect(Math.abs((read ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.0101)
      }
      expect(DDSketch.fromBytes(sketch.toBytes()).quantiles([0, 0.5, 1])).toEqual(sketch.quantiles([0, 0.5, 1]))
    }),
  )
})
