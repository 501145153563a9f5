import { expect, test } from 'vitest'
import { assignSeries } from './project-mark.tsx'

test('a project keeps its colour when others come, and shares it only above six', () => {
  const projects = [7, 3, 12, 5, 9, 20, 31].map((number) => ({ id: `p${number}`, number }))
  const series = assignSeries(projects.slice(0, 3))
  expect([series('p3'), series('p7'), series('p12')]).toEqual([1, 2, 3])
  const all = assignSeries(projects)
  expect(projects.map(({ id }) => all(id)).toSorted((a, b) => a - b)).toEqual([1, 1, 2, 3, 4, 5, 6])
  expect(all('p31')).toBe(all('p3'))
  expect(all('deleted')).toBe(1)
})
