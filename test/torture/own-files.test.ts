import { expect, test } from 'vitest'
import { tryOwnFiles } from './own-files.ts'

test('a file of ours whose n-th operation fails is complete afterwards, or can be written again, and leaves no other files', async () => {
  const { reached, wrong } = await tryOwnFiles(50)
  expect(wrong).toEqual([])
  expect(reached).toBeGreaterThan(30)
})
