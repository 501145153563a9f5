import { expect, test } from 'vitest'
import { linePath, lonelyValues } from './line-shapes.ts'
import { layerPlace, stackPaths } from './stack-shapes.ts'

test('a line keeps its gaps, and a value between two gaps is a dot', () => {
  const x = (index: number) => index / 3
  const y = (value: number) => 100 - value * 100
  expect(linePath([0, 1, null, 1], x, y)).toBe('M0,100L333.33,0M1000,0Z')
  expect(linePath([null, null], x, y)).toBe('')
  expect(lonelyValues([0, 1, null, 1])).toEqual([null, null, null, 1])
  expect(lonelyValues([0, null, null, 2, 3])).toEqual([0, null, null, null, null])
})

test('a layer is one closed shape per run, above the layers below', () => {
  expect(stackPaths([[1, 1]])).toEqual(['M0,0L250,0L750,0L1000,0L1000,100L750,100L250,100L0,100Z'])
  expect(stackPaths([[0.25], [0.75]])[1]).toBe('M0,0L500,0L1000,0L1000,75L500,75L0,75Z')
  expect(
    stackPaths([
      [0, 0],
      [1, 1],
    ])[0],
  ).toBe('')
  expect(stackPaths([[1, null, 1]])[0]?.match(/M/g)).toHaveLength(2)
})

test('a name is in the middle of the part where its layer is thick enough, or absent', () => {
  const layers = [Array.from({ length: 10 }, () => 0.95), Array.from({ length: 10 }, () => 0.05)]
  expect(layerPlace(layers, 0)).toEqual({ x: 0.45, y: 0.475, wide: 1, high: 0.95 })
  expect(layerPlace(layers, 1)).toBeNull()
  expect(layerPlace([[1, 0, 0, 0]], 0)).toEqual({ x: 0.125, y: 0.5, wide: 0.25, high: 1 })
})
