import { expect, test } from 'vitest'
import { perThousand } from './server-model.ts'

test('errors per thousand requests are unknown without requests', () => {
  expect(perThousand(3, 2_000)).toBe(1.5)
  expect(perThousand(0, 10)).toBe(0)
  expect(perThousand(3, 0)).toBeNull()
  expect(perThousand(null, 10)).toBeNull()
})
